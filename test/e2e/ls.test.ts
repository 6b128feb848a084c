import { describe, expect, it } from 'vitest'
import { jsonLines } from './run-dashkeep.ts'
import { shopId, startTrial } from './trial.ts'

const searches = [
  {
    _id: 'search:b',
    _source: { type: 'search', updated_at: '2026-10-01T12:00:00Z', search: { title: 'Beta' } },
  },
  {
    _id: 'search:a',
    _source: { type: 'search', updated_at: 1_790_000_000_000, search: { title: 'Alpha' } },
  },
  { _type: 'search', _id: 'old', _source: { title: 'Ancient', _updatedAt: '1500000000000' } },
  {
    _id: 'search:c',
    _source: { type: 'search', updated_at: 'soon', search: { description: 'no title' } },
  },
]

describe('ls', () => {
  it('lists the objects of a snapshot by title, with size and last change', async () => {
    await using trial = await startTrial()
    trial.sandbox.setObjects(shopId, 'search', searches)
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    const { exitCode, stdout } = await trial.run(['ls', '--type', 'search', '--json'])
    expect(exitCode).toBe(0)
    const [{ accountId, objects }] = jsonLines(stdout) as [
      { accountId: number; objects: { id: string; bytes: number }[] },
    ]
    expect(accountId).toBe(shopId)
    expect(objects).toMatchObject([
      { type: 'search', id: 'search:c', updatedAt: null },
      { type: 'search', id: 'search:a', title: 'Alpha', updatedAt: '2026-09-21T14:13:20.000Z' },
      { type: 'search', id: 'search:old', title: 'Ancient', updatedAt: '2017-07-14T02:40:00.000Z' },
      { type: 'search', id: 'search:b', title: 'Beta', updatedAt: '2026-10-01T12:00:00.000Z' },
    ])
    expect(objects.every(({ bytes }) => bytes > 30)).toBe(true)
  })

  it('shows people a table of every type, and how many there are', async () => {
    await using trial = await startTrial()
    trial.sandbox.setObjects(shopId, 'search', searches)
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    const { stdout } = await trial.run(['ls', 'latest'])
    expect(stdout).toMatch(/^TITLE +ID +SIZE +CHANGED$/m)
    expect(stdout).toMatch(/^Beta +search:b +\d+ B +2026-10-01 12:00:00$/m)
    expect(stdout).toMatch(/dashboard:/)
    expect(stdout).toMatch(/^\d+ objects in snapshot \d{8}T\d{6}Z-[0-9a-f]{6}$/m)
  })

  it('refuses a type that the snapshot does not hold', async () => {
    await using trial = await startTrial()
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    const { exitCode, stdout, stderr } = await trial.run(['ls', '--type', 'lens'])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('lens')
  })
})

describe('the log', () => {
  it('carries level names and ISO times', async () => {
    await using trial = await startTrial()
    const { stderr } = await trial.run(['backup'])
    const [first] = jsonLines(stderr)
    expect(first?.level).toBe('info')
    expect(first?.time).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/)
  })

  it('is silent with --quiet while all is well, and logs every step with --verbose', async () => {
    await using trial = await startTrial()
    expect((await trial.run(['backup', '--quiet'])).stderr).toBe('')
    const { stderr } = await trial.run(['backup', '--full', '--verbose'])
    expect(jsonLines(stderr).map(({ level }) => level)).toContain('debug')
    const both = await trial.run(['backup', '--quiet', '--verbose'])
    expect([both.exitCode, both.stdout]).toEqual([2, ''])
  })
})
