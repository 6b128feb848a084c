import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgress } from '../../../src/cli/print/progress.ts'

/** A progress on a terminal of so many columns, and what was drawn on it. */
function start(columns = 200, watched = true) {
  const drawn: string[] = []
  const draw = (text: string) => void drawn.push(text.replace('\r\x1b[K', '<'))
  return { drawn, progress: createProgress({ watched, draw, columns: () => columns }) }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

describe('the progress', () => {
  it('says how far it is, how fast, for how long, and how long it will take', () => {
    const { drawn, progress } = start()
    progress.begin('verifying', { unit: 'snapshot', total: 8, totalBytes: 40_000_000 })
    vi.advanceTimersByTime(62_000)
    progress.addBytes(10_000_000)
    progress.note('100001/a')
    vi.advanceTimersByTime(100)
    progress.advance(2)
    expect(drawn[0]).toBe('<verifying · 0 of 8 snapshots · 0:00')
    expect(drawn.at(-1)).toBe(
      '<verifying · 2 of 8 snapshots · 10.0 MB of 40.0 MB · 161 kB/s · 1:02 · about 3:06 left · 100001/a',
    )
  })

  it('shows no remaining time when the total is unknown', () => {
    const { drawn, progress } = start()
    progress.begin('listing', { unit: 'file', counting: 'list' })
    for (let file = 0; file < 300; file += 1) progress.saw('list')
    progress.saw('read')
    vi.advanceTimersByTime(2000)
    expect(drawn.at(-1)).toBe('<listing · 300 files · 150/s · 0:02')
  })

  it('is drawn ten times a second at most, and once a second while nothing moves', () => {
    const { drawn, progress } = start()
    progress.begin('reading', { unit: 'account' })
    for (let turn = 0; turn < 500; turn += 1) {
      vi.advanceTimersByTime(1)
      progress.advance()
    }
    expect(drawn.length).toBeLessThanOrEqual(6)
    const before = drawn.length
    vi.advanceTimersByTime(3000)
    expect(drawn.length).toBe(before + 3)
  })

  it('never takes more than the width of the terminal, wide characters included', () => {
    const { drawn, progress } = start(30)
    progress.begin('backing up', { unit: 'account', total: 2 })
    vi.advanceTimersByTime(1000)
    progress.note('漢字漢字漢字')
    expect(drawn.at(-1)).toBe('<backing up · 0 of 2 accounts ')
    progress.begin('漢字漢字漢字漢字漢字漢字漢字漢字')
    expect(drawn.at(-1)).toBe('<漢字漢字漢字漢字漢字漢字漢字')
  })

  it('makes room for the log and is drawn again below, and leaves nothing at its end', () => {
    const { drawn, progress } = start()
    progress.begin('sending')
    progress.around(() => drawn.push('a line of the log\n'))
    expect(drawn).toEqual(['<sending · 0:00', '<', 'a line of the log\n', '<sending · 0:00'])
    progress.end()
    progress.advance()
    vi.advanceTimersByTime(5000)
    expect(drawn.slice(4)).toEqual(['<'])
  })

  it('draws nothing where nobody watches', () => {
    const { drawn, progress } = start(80, false)
    progress.begin('listing')
    progress.advance()
    progress.around(() => {})
    vi.advanceTimersByTime(5000)
    progress.end()
    expect(drawn).toEqual([])
  })
})
