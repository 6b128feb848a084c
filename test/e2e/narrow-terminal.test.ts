import { describe, expect, it } from 'vitest'
import { sampleAccount, sampleObjects } from '../../src/sandbox/sample-account.ts'
import { startAccounts } from './accounts-trial.ts'
import { jsonLines, watchDashkeep } from './run-dashkeep.ts'
import { shopId, startTrial } from './trial.ts'

const longName = 'shop-with-a-name-that-is-much-longer-than-any-column-of-a-table-should-ever-be'
const longId = 'search:0f6c3a52-6a3e-4c0e-9c0c-5d1d8f1f2a77'

/** A search with a title of 300 characters. */
function longSearch() {
  const search = {
    ...(sampleObjects().search[0]?._source.search as object),
    title: 't'.repeat(300),
  }
  return { _type: '_doc', _id: longId, _source: { type: 'search', search } }
}

/** An account with a long name everywhere, and an archive with two snapshots of it. */
async function startLong() {
  const account = { ...sampleAccount(), accountName: longName }
  const trial = await startTrial({ extraOperations: true, accounts: [account] })
  trial.sandbox.setObjects(shopId, 'search', [longSearch(), ...sampleObjects().search])
  const accounts = [
    {
      name: longName,
      accountId: shopId,
      baseUrl: trial.sandbox.url,
      token: { env: 'DASHKEEP_API_TOKEN' },
    },
  ]
  const config = await trial.write('long.yaml', { accounts })
  const { DASHKEEP_BASE_URL: _, ...rest } = trial.env
  const env = { ...rest, DASHKEEP_CONFIG: config, NO_COLOR: '1' }
  expect((await trial.run(['backup'], { ...env, DASHKEEP_BASE_URL: undefined })).exitCode).toBe(0)
  trial.sandbox.setObjects(shopId, 'search', sampleObjects().search)
  return { trial, env }
}

/** Lines of tables and lists: addresses and names in sentences are as long as they are. */
function tableLines(screen: readonly string[]): string[] {
  return screen.filter((line) => !/file:\/\/|http:\/\/|^Account |^From snapshot /.test(line))
}

describe('on a terminal of 80 columns', () => {
  it('every table fits, with ids and names of snapshots whole', async () => {
    const { trial, env } = await startLong()
    await using _ = trial
    const verbs = ['backup', 'list', 'status', 'show', 'ls latest~1', 'whoami', 'restore --drill']
    verbs.push(
      'prune --keep-daily 3 --keep-weekly 2 --keep-monthly 1',
      'diff latest~1 latest --stat',
      'restore --drill --record',
      'status --max-proof-age 8d',
    )
    for (const verb of verbs) {
      const { exitCode, screen } = await watchDashkeep(verb.split(' '), { env })
      expect([verb, exitCode, screen]).toEqual([verb, 0, screen])
      const widths = tableLines(screen).map((line) => [line, line.length <= 80])
      expect(widths.filter(([, fits]) => !fits)).toEqual([])
      const names = screen.join('\n').match(/\d{8}T\d{6}Z\S*/g) ?? []
      for (const name of names) expect(name).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{6}(\/[\w.]+)?,?$/)
      if (verb.startsWith('ls')) expect(screen.join('\n')).toContain(longId)
    }
  })

  it('every line of a comparison fits, and what differs is in it', async () => {
    const { trial, env } = await startLong()
    await using _ = trial
    const search = longSearch()
    const changed = {
      ...search._source.search,
      title: `${'t'.repeat(300)}u`,
      description: `${'d'.repeat(60)} after`,
      columns: ['c'.repeat(90), 'd'.repeat(90)],
    }
    const source = { ...search._source, search: changed }
    trial.sandbox.setObjects(shopId, 'search', [{ ...search, _source: source }])
    await trial.run(['backup'], { ...env, DASHKEEP_BASE_URL: undefined })
    const verbs = [
      'diff latest~1 latest',
      `history ${longId} --patch`,
      `history ${longId}`,
      'find ttt --all',
      'find after',
      'restore latest~1 --to-service --overwrite --dry-run',
    ]
    for (const verb of verbs) {
      const { exitCode, screen } = await watchDashkeep(verb.split(' '), { env })
      expect([verb, exitCode]).toEqual([verb, 0])
      expect(tableLines(screen).filter((line) => line.length > 80)).toEqual([])
      expect(screen.join('\n')).toContain(longId)
      if (verb.includes('after')) expect(screen.join('\n')).toMatch(/description: .*after/)
    }
  })

  it('the list of sub accounts fits', async () => {
    await using trial = await startAccounts()
    const env = { ...trial.env, NO_COLOR: '1' }
    const { screen } = await watchDashkeep(['accounts', 'list'], { env })
    expect(screen[1]).toMatch(/^ACCOUNT +NAME +GB\/DAY/)
    for (const line of screen) expect(line.length).toBeLessThanOrEqual(80)
  })
})

describe('in a pipe', () => {
  it('no table leaves anything out', async () => {
    const { trial, env } = await startLong()
    await using _ = trial
    const changes = { ...env, DASHKEEP_BASE_URL: undefined }
    const { stdout } = await trial.run(['ls'], changes)
    expect(stdout).toContain('t'.repeat(300))
    const list = await trial.run(['list'], changes)
    expect(list.stdout).toContain(longName)
    expect(list.stdout).toContain('TAKEN (UTC)')
    expect(jsonLines((await trial.run(['list', '--json'], changes)).stdout)).toHaveLength(1)
  })
})
