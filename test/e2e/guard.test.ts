import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { identity, recipient } from '../golden/key.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shopId, startTrial, type Trial } from './trial.ts'

function day(number: number, hour = 3): Date {
  return new Date(Date.UTC(2026, 10, number, hour))
}

function search(id: string, object: object | null = { title: `Title of ${id}`, hits: 0 }) {
  return { _id: `search:${id}`, _source: { type: 'search', search: object } }
}

/** Searches by number, from one number up to another. */
function searches(from: number, to: number) {
  return Array.from({ length: to - from }, (_, at) => search(`s${from + at}`))
}

/** The sound answer of every test: 20 searches. */
const sound = searches(0, 20)

interface Step {
  readonly hits: readonly object[]
  readonly args?: readonly string[]
  readonly env?: Environment
  readonly at?: Date
}

/** An account as `backup --json` shows it, and how the run ended. */
type Run = Record<string, unknown> & { readonly exitCode: number }

/** Backs up what the service answers, a run a day; returns how each ended. */
async function backUp(trial: Trial, steps: readonly Step[], firstDay = 1): Promise<Run[]> {
  const runs: Run[] = []
  for (const [at, { hits, args = [], env = {}, at: now = day(firstDay + at) }] of steps.entries()) {
    trial.sandbox.setObjects(shopId, 'search', hits)
    const onlySearch = { DASHKEEP_TYPES: 'search', ...env }
    const { exitCode, stdout } = await trial.runAt(now, ['backup', '--json', ...args], onlySearch)
    const [account] = accountsOf(stdout)
    runs.push({ ...account, exitCode })
  }
  return runs
}

const codesOf = (runs: readonly { exitCode: number }[]) => runs.map(({ exitCode }) => exitCode)
const resultsOf = async (trial: Trial, steps: readonly Step[]) =>
  codesOf(await backUp(trial, steps))

/** The snapshot that `latest` stands for, and that a restore would take. */
async function newestGood(trial: Trial): Promise<unknown> {
  const { stdout } = await trial.run(['status', '--json'])
  return accountsOf(stdout)[0]?.snapshot
}

const hollow: [string, object[]][] = [
  ['20 times {}', sound.map(() => ({}))],
  ['every _source null', sound.map(({ _id }) => ({ _id, _source: null }))],
  ['every _source {}', sound.map(({ _id }) => ({ _id, _source: {} }))],
  [
    'every _source {} in the oldest form',
    sound.map(({ _id }) => ({ _type: 'search', _id, _source: {} })),
  ],
  [
    'objects without a saved object',
    sound.map(({ _id }) => ({ _id, _source: { type: 'search' } })),
  ],
  ['saved objects without members', sound.map((_, at) => search(`s${at}`, {}))],
  ['saved objects that are null', sound.map((_, at) => search(`s${at}`, null))],
  [
    'saved objects with empty members',
    sound.map((_, at) => search(`s${at}`, { title: '', columns: [], version: 1, hits: 0 })),
  ],
  ['all ids missing', sound.map(({ _source }) => ({ _source }))],
  ['all ids empty', sound.map(({ _source }) => ({ _id: '', _source }))],
  ['all ids null', sound.map(({ _source }) => ({ _id: null, _source }))],
]

const bad: [string, object[]][] = [
  ['one object sent 20 times', sound.map(() => search('s0'))],
  ['no objects', []],
  ...hollow,
  ['all ids replaced', searches(100, 120)],
  ['11 of 20 ids replaced', [...sound.slice(0, 9), ...searches(100, 111)]],
  [
    '9 sound objects sent twice',
    [...sound.slice(0, 9), ...sound.slice(0, 9), ...sound.slice(0, 2)],
  ],
  ['9 sound objects among hollow ones', [...sound.slice(0, 9), ...sound.slice(9).map(() => ({}))]],
  ['17 sound objects and 3 hollow ones', [...sound.slice(3), {}, {}, {}]],
  ['all of them and 3 hollow ones', [...sound, {}, {}, {}]],
  ['15 of them, some sent twice', [...sound.slice(0, 15), ...sound.slice(0, 5)]],
]

describe('a bad answer is suspect, and never the newest good snapshot', () => {
  it.each(bad)('%s', async (_name, hits) => {
    await using trial = await startTrial()
    const [first, second, third] = await backUp(trial, [{ hits: sound }, { hits }, { hits }])
    expect([first?.result, second?.result, third?.result]).toEqual(['first', 'suspect', 'suspect'])
    expect([first?.exitCode, second?.exitCode, third?.exitCode]).toEqual([0, 3, 3])
    expect(await newestGood(trial)).toBe(first?.snapshot)
    const prune = await trial.runAt(day(4), ['prune', '--keep-last', '1', '--yes'])
    expect(prune.exitCode).toBe(3)
    expect(await trial.snapshots()).toContain(first?.snapshot)
    const [recovered] = await backUp(trial, [{ hits: sound }], 5)
    expect(recovered?.exitCode).toBe(0)
  })

  it.each([...hollow, bad[0] as [string, object[]]])(
    'also as a first one: %s',
    async (_name, hits) => {
      await using trial = await startTrial()
      expect(await resultsOf(trial, [{ hits }, { hits }, { hits: sound }])).toEqual([3, 3, 0])
    },
  )

  it('says what is missing, by number and by name', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_TYPES: 'search' }
    await backUp(trial, [{ hits: sound }])
    trial.sandbox.setObjects(shopId, 'search', [])
    for (const turn of [2, 3]) {
      const { stdout, stderr } = await trial.runAt(day(turn), ['backup'], env)
      expect(stdout).toContain('suspect default: search: 0 objects, down from 20\n')
      expect(stdout).toContain('  missing search: search:s0 (Title of s0), search:s1 (')
      expect(stdout).toContain(' and 17 more\n  hint: ')
      const warned = jsonLines(stderr).find(({ msg }) => msg === 'snapshot is suspect')
      expect(warned?.missing).toMatchObject([{ type: 'search', count: 20 }])
    }
    const [run] = await backUp(trial, [{ hits: [] }], 4)
    expect(run?.missing).toMatchObject([{ type: 'search', count: 20, objects: { length: 10 } }])
  })
})

describe('objects that have lost most of their bytes', () => {
  const panels = JSON.stringify(
    Array.from({ length: 9 }, (_, id) => ({ id: `panel-${id}`, w: 24 })),
  )
  const boards = (count: number, panelsOf: (at: number) => string) =>
    Array.from({ length: count }, (_, at) =>
      search(`s${at}`, { title: `Board ${at}`, hits: 0, panelsJSON: panelsOf(at) }),
    )
  const whole = boards(20, () => panels)

  it('are suspect, and so they stay', async () => {
    await using trial = await startTrial()
    const emptied = { hits: boards(20, () => '[]') }
    const runs = await backUp(trial, [{ hits: whole }, emptied, emptied])
    expect(codesOf(runs)).toEqual([0, 3, 3])
    expect(runs[1]?.suspect).toEqual([
      expect.stringMatching(
        /^search: 0 of 20 objects have at least half of the \d+ bytes that most had/,
      ),
    ])
    expect(await newestGood(trial)).toBe(runs[0]?.snapshot)
    const accept = { ...emptied, args: ['--accept-fall'] }
    expect(codesOf(await backUp(trial, [accept, emptied], 4))).toEqual([0, 0])
  })

  it('are suspect also when the kibanaVersion changes with them', async () => {
    await using trial = await startTrial()
    await backUp(trial, [{ hits: whole }])
    trial.sandbox.setObjects(
      shopId,
      'search',
      JSON.stringify({ kibanaVersion: '99.0.0', hits: boards(20, () => '[]') }),
    )
    const env = { DASHKEEP_TYPES: 'search' }
    expect((await trial.runAt(day(2), ['backup'], env)).exitCode).toBe(3)
  })

  it.each<[string, object[], object[]]>([
    ['some are edited', whole, boards(20, (at) => (at < 10 ? '[]' : panels))],
    ['small ones are added', whole, [...whole, ...searches(100, 160)]],
    [
      'the larger ones are deleted',
      [...whole, ...searches(100, 119)],
      whole.slice(0, 5).concat(searches(100, 119)),
    ],
    ['there are few', whole.slice(0, 4), boards(4, () => '[]')],
  ])('are good when %s', async (_name, before, after) => {
    await using trial = await startTrial()
    expect(await resultsOf(trial, [{ hits: before }, { hits: after }])).toEqual([0, 0])
  })
})

describe('an answer in another character set', () => {
  it('is suspect, also as a first one', async () => {
    await using trial = await startTrial()
    const hits = sound.map((_, at) => search(`s${at}`, { title: `Über ${at}`, hits: 0 }))
    const latin1 = Buffer.from(JSON.stringify({ kibanaVersion: '7.10.2', hits }), 'latin1')
    const env = { DASHKEEP_TYPES: 'search' }
    trial.sandbox.setObjects(shopId, 'search', latin1)
    expect((await trial.runAt(day(1), ['backup'], env)).exitCode).toBe(3)
    expect(await resultsOf(trial, [{ hits }, { hits }])).toEqual([0, 0])
    trial.sandbox.setObjects(shopId, 'search', latin1)
    const { exitCode, stdout } = await trial.runAt(day(5), ['backup'], env)
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('20 of 20 hits are not UTF-8')])
  })
})

describe('an honest answer is good', () => {
  it.each<[string, object[]]>([
    ['10 of 20 objects', sound.slice(0, 10)],
    ['10 of 20 ids replaced', [...sound.slice(10), ...searches(100, 110)]],
    ['all of them, and some twice', [...sound, ...sound.slice(0, 10)]],
    ['all of them, and two hollow ones', [...sound, {}, { _id: 'search:x', _source: null }]],
    ['18 of them, and one twice', [...sound.slice(2), sound[5] as object]],
    ['three times as many', searches(0, 60)],
  ])('%s', async (_name, hits) => {
    await using trial = await startTrial()
    expect(await resultsOf(trial, [{ hits: sound }, { hits }])).toEqual([0, 0])
  })

  it('whose hollow objects somebody has accepted', async () => {
    await using trial = await startTrial()
    const hits = [...sound.slice(0, 10), ...sound.slice(10).map(({ _id }) => ({ _id }))]
    const accept = { hits, args: ['--accept-fall'] }
    expect(await resultsOf(trial, [{ hits }, { hits }, accept, { hits }])).toEqual([3, 3, 0, 0])
  })
})

describe('a loss in small steps', () => {
  const steps = [100, 60, 36, 21].map((count) => ({ hits: searches(0, count) }))

  it('is suspect against the highest number of the last seven days', async () => {
    await using trial = await startTrial()
    const runs = await backUp(trial, steps)
    expect(codesOf(runs)).toEqual([0, 0, 3, 3])
    expect(runs[2]?.suspect).toEqual(['search: 36 objects, down from 100 on 2026-11-01'])
    expect(await newestGood(trial)).toBe(runs[1]?.snapshot)
  })

  it('is accepted once, and measured anew from there', async () => {
    await using trial = await startTrial()
    const accepted = steps.map((step, at) =>
      at === 2 ? { ...step, args: ['--accept-fall'] } : step,
    )
    const same = { hits: searches(0, 36) }
    const runs = await backUp(trial, [...accepted.slice(0, 3), same, ...accepted.slice(3)])
    expect(codesOf(runs)).toEqual([0, 0, 0, 0, 0])
    const [less] = await backUp(trial, [{ hits: searches(0, 17) }], 6)
    expect(less?.suspect).toEqual(['search: 17 objects, down from 36 on 2026-11-04'])
  })

  it('is good once the higher numbers are older than the window', async () => {
    await using trial = await startTrial()
    const at = [1, 4, 9].map((number) => day(number))
    const slow = steps.slice(0, 3).map((step, place) => ({ ...step, at: at[place] as Date }))
    expect(await resultsOf(trial, slow)).toEqual([0, 0, 0])
  })

  it.each([7, 8, 30])('is suspect too when backups are %i days apart', async (apart) => {
    await using trial = await startTrial()
    const slow = [100, 51, 27, 14].map((count, place) => {
      return { hits: searches(0, count), at: day(1 + place * apart) }
    })
    const runs = await backUp(trial, slow)
    expect(codesOf(runs)).toEqual([0, 0, 3, 3])
    expect(runs[2]?.suspect).toEqual(['search: 27 objects, down from 100 on 2026-11-01'])
  })

  it('is seen through the window that is configured', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_CONFIG: await trial.write('window.yaml', { guard: { window: '30h' } }) }
    expect(
      await resultsOf(
        trial,
        steps.map((step) => ({ ...step, env })),
      ),
    ).toEqual([0, 0, 0, 0])
    const wide = { DASHKEEP_CONFIG: await trial.write('wide.yaml', { guard: { window: '3d' } }) }
    const back = { hits: searches(0, 100), env: wide }
    const runs = await backUp(
      trial,
      [back, ...steps.slice(1, 3).map((step) => ({ ...step, env: wide }))],
      5,
    )
    expect(codesOf(runs)).toEqual([0, 0, 3])
  })

  it('is seen through unchanged and suspect snapshots in between', async () => {
    await using trial = await startTrial()
    const hits = [100, 60, 60, 0, 60, 20, 36].map((count) => searches(0, count))
    const at = hits.map((_, place) => day(1, place))
    const runs = await backUp(
      trial,
      hits.map((some, place) => ({ hits: some, at: at[place] as Date })),
    )
    expect(codesOf(runs)).toEqual([0, 0, 0, 3, 0, 3, 3])
  })
})

describe('a type that is not exported for a while', () => {
  const without = { DASHKEEP_TYPES: 'dashboard' }
  const both = { DASHKEEP_TYPES: 'search,dashboard' }

  it('is measured against what it had, however long ago', async () => {
    await using trial = await startTrial()
    const runs = await backUp(trial, [
      { hits: sound, env: both },
      { hits: sound, env: without },
      { hits: sound, env: without },
      { hits: searches(0, 2), env: both, at: day(29) },
      { hits: searches(100, 120), env: both, at: day(30) },
      { hits: sound.slice(0, 12), env: both, at: day(31) },
    ])
    expect(codesOf(runs)).toEqual([0, 0, 0, 3, 3, 0])
    expect(runs[3]?.suspect).toEqual(['search: 2 objects, down from 20'])
    expect(runs[4]?.suspect).toEqual([
      'search: 20 of 20 objects are gone, others are in their place',
    ])
  })
})

describe('an encrypted archive, by a machine without a key', () => {
  const some = bad.filter((_, at) => at % 3 === 0 || at > hollow.length)
  it.each(some)('holds as suspect: %s', async (_name, hits) => {
    await using trial = await startTrial()
    const env = { DASHKEEP_RECIPIENTS: recipient }
    const runs = await backUp(trial, [
      { hits: sound, env },
      { hits, env },
    ])
    expect(codesOf(runs)).toEqual([0, 3])
    expect(runs[1]?.missing).toEqual([])
    const manifests = [...(await trial.files())].filter(([key]) => key.endsWith('/manifest.json'))
    for (const [, bytes] of manifests) expect(bytes.toString()).not.toMatch(/search:s|Title of/)
  })

  it('names what is missing where there is a key', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_RECIPIENTS: recipient, DASHKEEP_IDENTITY: identity }
    const [, run] = await backUp(trial, [
      { hits: sound, env },
      { hits: searches(100, 120), env },
    ])
    expect(run?.missing).toMatchObject([{ count: 20, objects: { 0: { id: 'search:s0' } } }])
  })

  it('reports the share of lost ids when the sample does not hold all of them', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_RECIPIENTS: recipient }
    const runs = await backUp(trial, [
      { hits: searches(0, 1000), env },
      { hits: searches(450, 1450), env },
      { hits: searches(1200, 2200), env },
    ])
    expect(codesOf(runs)).toEqual([0, 0, 3])
    expect(runs[2]?.suspect).toEqual([
      expect.stringMatching(/^search: about 7\d % of 1000 objects are gone, others are in their/),
    ])
  })
})

describe('objects of another type', () => {
  it('are not what --accept-fall is advised for', async () => {
    await using trial = await startTrial()
    const { search = [], dashboard = [] } = sampleObjects()
    await trial.run(['backup'])
    trial.sandbox.setObjects(shopId, 'search', dashboard)
    const run = await trial.run(['backup'])
    expect([run.exitCode, run.stdout]).toEqual([3, expect.stringContaining('of another type')])
    expect(run.stdout).toContain('hint: ask the operator of the service')
    expect(run.stdout).not.toContain('run `dashkeep backup --accept-fall`')
    trial.sandbox.setObjects(shopId, 'search', search.slice(-1))
    const fall = await trial.run(['backup'])
    expect(fall.stdout).toContain(
      'hint: check the account; if its objects are complete, run `dashkeep backup',
    )
  })
})

describe('a guard that allows every fall', () => {
  it('questions nothing but an export without a sound object', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_CONFIG: await trial.write('open.yaml', { guard: { maxFall: 1 } }) }
    const steps = [sound, searches(100, 120), searches(100, 101), []].map((hits) => ({ hits, env }))
    expect(await resultsOf(trial, steps)).toEqual([0, 0, 0, 3])
  })
})
