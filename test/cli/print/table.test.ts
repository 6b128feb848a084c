import { describe, expect, it } from 'vitest'
import { createColors } from '../../../src/cli/print/colors.ts'
import { formatTable } from '../../../src/cli/print/table.ts'

const colors = createColors(false)
const header = ['ACCOUNT', 'NAME', 'SNAPSHOT', 'TAKEN', 'REASONS']
const snapshot = '20261120T031500Z-4f2a1c'
const layout = { right: [0], flexible: ['NAME'], optional: ['TAKEN'], wrapped: 'REASONS' }

function format(cells: readonly string[], columns: number | undefined): string[] {
  return formatTable({ colors, columns }, header, [cells], layout)
}

describe('a table', () => {
  it('shortens nothing in a pipe', () => {
    const cells = ['100001', 'n'.repeat(300), snapshot, '2026-11-20', 'r '.repeat(100).trim()]
    expect(format(cells, undefined)[1]).toBe(` ${cells.join('  ')}`)
  })

  it('does not change when it fits', () => {
    const cells = ['100001', 'Shop', snapshot, '2026-11-20', 'pinned']
    expect(format(cells, 80)[1]).toBe(` ${cells.join('  ')}`)
  })

  it('shortens text, with an ellipsis, and never a name of a snapshot', () => {
    const cells = ['100001', '漢字'.repeat(30), snapshot, '2026-11-20', 'pinned']
    const [, line = ''] = format(cells, 80)
    expect(line).toMatch(
      new RegExp(`^ 100001 {2}(漢字)+漢?… +${snapshot} {2}2026-11-20 {2}pinned$`),
    )
    expect(line.length + (line.match(/[漢字]/g) ?? []).length).toBeLessThanOrEqual(80)
  })

  it('leaves out what can be done without before it shortens too much', () => {
    const lines = format(['100001', 'Shop '.repeat(9), snapshot, '2026-11-20', 'pinned'], 60)
    expect(lines[0]).not.toContain('TAKEN')
    expect(lines[1]).toMatch(new RegExp(`^ 100001 {2}Shop Shop Shop S… {2}${snapshot} {2}pinned$`))
  })

  it('breaks reasons over several lines', () => {
    const reasons = 'newest of day 2026-11-20, newest of week 2026-W47, newest good snapshot'
    const lines = format(['100001', 'Shop', snapshot, '2026-11-20', reasons], 80)
    expect(lines.length).toBeGreaterThan(2)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines.slice(2).every((line) => line.startsWith(' '.repeat(40)))).toBe(true)
    const shown = lines.slice(1).map((line) => line.replace(/.*2026-11-20 {2}/, '').trim())
    expect(shown.join(' ')).toBe(reasons)
  })

  it('keeps ids whole on a terminal that is too narrow for them', () => {
    expect(format(['100001', 'Shop', snapshot, '2026-11-20', 'pinned'], 20)[1]).toContain(snapshot)
  })

  it('closes the colour of a text that it shortens', () => {
    const painted = createColors(true)
    const rows = [['1', painted.dim('x'.repeat(50)), snapshot, '', '']]
    const [, line = ''] = formatTable({ colors: painted, columns: 60 }, header, rows, layout)
    expect(line).toContain('x…\u001b[22;')
  })
})
