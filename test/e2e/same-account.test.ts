import { describe, expect, it } from 'vitest'
import { shardOf } from '../../src/config/shard.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { startWorker } from '../worker/start-worker.ts'
import { accountsOf } from './run-dashkeep.ts'
import { accountsFrom, shortLimits, startTrial, type Trial } from './trial.ts'

interface Configured {
  readonly name: string
  /** The account that the token belongs to. */
  readonly owner: number
  readonly accountId?: number
  readonly baseUrl?: string
}

/** A trial with the accounts 501 to 503, configured as told; each has a token of its own. */
async function startConfigured(accounts: readonly Configured[]) {
  const trial = await startTrial({ accounts: accountsFrom([501, 502, 503]) })
  const tokens = accounts.map(({ owner }, at) => [`TOKEN_${at}`, trial.sandbox.issueToken(owner)])
  const file = await trial.write('many.yaml', {
    service: { baseUrl: trial.sandbox.url },
    limits: shortLimits,
    accounts: accounts.map(({ name, accountId, baseUrl }, at) => {
      return { name, accountId, baseUrl, token: { env: `TOKEN_${at}` } }
    }),
  })
  const changes: Record<string, string | undefined> = {
    ...Object.fromEntries(tokens),
    DASHKEEP_CONFIG: file,
    DASHKEEP_BASE_URL: undefined,
    DASHKEEP_API_TOKEN: undefined,
  }
  return { trial, changes }
}

async function backUp(trial: Trial, changes: object, ...args: string[]) {
  const { exitCode, stdout } = await trial.run(['backup', '--json', ...args], { ...changes })
  const accounts = accountsOf(stdout)
  return {
    exitCode,
    results: Object.fromEntries(accounts.map(({ name, result }) => [name, result])),
    errors: Object.fromEntries(accounts.map(({ name, error }) => [name, error])),
  }
}

const double: readonly (readonly [string, readonly Configured[]])[] = [
  [
    'without ids',
    [
      { name: 'a', owner: 501 },
      { name: 'b', owner: 501 },
    ],
  ],
  [
    'one with its id',
    [
      { name: 'a', owner: 501, accountId: 501 },
      { name: 'b', owner: 501 },
    ],
  ],
  [
    'both with the same id',
    [
      { name: 'a', owner: 501, accountId: 501 },
      { name: 'b', owner: 501, accountId: 501 },
    ],
  ],
]

describe('two configured accounts whose tokens belong to the same account', () => {
  it.each(double)('are an error for both in a backup: %s', async (_, accounts) => {
    const { trial, changes } = await startConfigured([...accounts, { name: 'c', owner: 502 }])
    await using _trial = trial
    const { exitCode, results, errors } = await backUp(trial, changes)
    expect(results).toEqual({ a: 'failed', b: 'failed', c: 'first' })
    expect(errors.a).toBe(
      'Cannot back up a: its token belongs to account 501, as does the token of b',
    )
    expect(errors.b).toBe(
      'Cannot back up b: its token belongs to account 501, as does the token of a',
    )
    expect(exitCode).toBe(3)
    const stored = [...(await trial.files()).keys()]
    expect(stored.filter((key) => key.startsWith('501/'))).toEqual([])
  })

  it.each(double)('are an error for both in doctor: %s', async (_, accounts) => {
    const { trial, changes } = await startConfigured([...accounts, { name: 'c', owner: 502 }])
    await using _trial = trial
    const { exitCode, stdout } = await trial.run(['doctor', '--json'], changes)
    expect(exitCode).toBe(1)
    const { findings } = JSON.parse(stdout) as { findings: { check: string; result: string }[] }
    const failed = findings.filter(({ result }) => result === 'failed').map(({ check }) => check)
    expect(failed).toEqual(['account a', 'account b'])
  })

  it('are an error for both in the worker', async () => {
    const { trial, changes } = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 501 },
    ])
    await using _trial = trial
    const env = { ...trial.env, ...changes, DASHKEEP_SCHEDULE: '0 3 * * *' }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await worker.untilEnded(1)
    expect((await trial.files()).size).toBe(0)
    for (const name of ['a', 'b']) {
      expect(await worker.metric(`dashkeep_last_run_success{account="${name}"}`)).toBe(0)
    }
  })

  it('are seen when only one of them is asked for, as far as ids are configured', async () => {
    const { trial, changes } = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 501, accountId: 501 },
    ])
    await using _trial = trial
    expect((await backUp(trial, changes, '--account', 'a')).results).toEqual({ a: 'failed' })
    expect((await trial.files()).size).toBe(0)
  })

  it('are seen across runs and shards by the name that the newest snapshot records', async () => {
    const { trial, changes } = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 501 },
    ])
    await using _trial = trial
    const count = 50
    const [first, second] = ['a', 'b'].map((name) => `${shardOf(name, count)}/${count}`)
    expect(first).not.toBe(second)
    const taken = await backUp(trial, changes, '--shard', first as string)
    expect(taken.results).toEqual({ a: 'first' })
    const refused = await backUp(trial, changes, '--shard', second as string)
    expect(refused.exitCode).toBe(2)
    expect(refused.errors.b).toBe(
      'Cannot back up b: its token belongs to account 501, which is backed up as a',
    )
    expect((await backUp(trial, changes, '--shard', first as string)).results).toEqual({
      a: 'unchanged',
    })
  })

  it('may have other names than before', async () => {
    const before = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 502 },
    ])
    await using trial = before.trial
    expect((await backUp(trial, before.changes)).exitCode).toBe(0)
    const swapped = { ...before.changes, TOKEN_0: 'token-502', TOKEN_1: 'token-501' }
    expect((await backUp(trial, swapped)).results).toEqual({ a: 'unchanged', b: 'unchanged' })
  })

  it('cost a request more for each account without an id, and nothing with ids', async () => {
    const { trial, changes } = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 502, accountId: 502 },
      { name: 'c', owner: 503, accountId: 503 },
    ])
    await using _trial = trial
    await backUp(trial, changes)
    const asked = trial.sandbox.requests().filter(({ operation }) => operation === 'whoami')
    expect(asked).toHaveLength(4)
  })
})

describe('two services whose account ids coincide in one store', () => {
  /** A second service with an account 501 of its own. */
  async function startTwo() {
    const other = await startSandbox({ accounts: accountsFrom([501]) })
    const { trial, changes } = await startConfigured([{ name: 'a', owner: 501 }])
    const stack = new AsyncDisposableStack()
    stack.use(trial)
    stack.use(other)
    const moved = { ...changes, DASHKEEP_BASE_URL: other.url, TOKEN_0: 'token-501' }
    return { trial, changes, moved, other, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }

  it('are refused for the second service, which stores nothing', async () => {
    await using two = await startTwo()
    const { trial, changes, moved, other } = two
    await backUp(trial, changes)
    const before = (await trial.files()).size
    const { exitCode, stdout } = await trial.run(['backup', '--json'], moved)
    expect(exitCode).toBe(2)
    expect(accountsOf(stdout)[0]).toMatchObject({
      error: `Cannot back up a: the archive holds account 501 of ${trial.sandbox.url}, and this one is of ${other.url}`,
      hint: expect.stringMatching(/another prefix .*--accept-service/),
    })
    expect((await trial.files()).size).toBe(before)
    const doctor = await trial.run(['doctor'], moved)
    expect(doctor.exitCode).toBe(1)
    expect(doctor.stdout).toContain('the archive holds account 501 of')
    expect((await backUp(trial, changes)).exitCode).toBe(0)
  })

  it('count as one service that has moved after --accept-service', async () => {
    await using two = await startTwo()
    const { trial, changes, moved } = two
    await backUp(trial, changes)
    const accepted = await backUp(trial, moved, '--accept-service')
    expect(accepted).toMatchObject({ exitCode: 0, results: { a: 'unchanged' } })
    expect((await backUp(trial, moved)).results).toEqual({ a: 'unchanged' })
    expect((await backUp(trial, changes)).results).toEqual({ a: 'failed' })
    expect((await trial.run(['doctor'], moved)).exitCode).toBe(0)
  })

  it('are an error for both when one configuration names them', async () => {
    const other = await startSandbox({ accounts: accountsFrom([501]) })
    await using _other = other
    const { trial, changes } = await startConfigured([
      { name: 'a', owner: 501 },
      { name: 'b', owner: 502, baseUrl: other.url },
    ])
    await using _trial = trial
    const both = { ...changes, TOKEN_1: 'token-501' }
    const { exitCode, errors } = await backUp(trial, both)
    expect(exitCode).toBe(2)
    expect(errors.a).toBe(
      `Cannot back up a: account 501 of ${trial.sandbox.url} has the same id as b of ${other.url}`,
    )
    expect((await trial.files()).size).toBe(0)
  })

  it('are one service when only the spelling of the address differs', async () => {
    await using two = await startTwo()
    const { trial, changes } = two
    await backUp(trial, changes)
    const spelt = `${trial.sandbox.url.replace('http', 'HTTP')}/`
    const { results } = await backUp(trial, { ...changes, DASHKEEP_BASE_URL: spelt })
    expect(results).toEqual({ a: 'unchanged' })
  })
})

describe('a configured account that never succeeded', () => {
  const configured = [
    { name: 'a', owner: 501 },
    { name: 'b', owner: 502, accountId: 502 },
    { name: 'c', owner: 503 },
  ]

  it.each([
    ['b', 502],
    ['c', undefined],
  ])('is missing in status: %s, whose configured id is %s', async (name, accountId) => {
    const { trial, changes } = await startConfigured(configured)
    await using _trial = trial
    const others = configured.map((one) => one.name).filter((one) => one !== name)
    const refused = {
      ...changes,
      [`TOKEN_${configured.findIndex((one) => one.name === name)}`]: 'x',
    }
    const { results } = await backUp(trial, refused)
    expect(results).toMatchObject({ [name]: 'failed', [others[0] as string]: 'first' })
    const { exitCode, stdout } = await trial.run(['status', '--json'], refused)
    expect(exitCode).toBe(3)
    const missing = accountsOf(stdout).filter(({ state }) => state === 'missing')
    expect(missing).toMatchObject([accountId === undefined ? { name } : { name, accountId }])
    const table = await trial.run(['status'], refused)
    expect(table.exitCode).toBe(3)
    expect(table.stdout).toMatch(new RegExp(` ${name} +missing`))
    expect(table.stdout).not.toContain('undefined')
    await backUp(trial, changes)
    expect((await trial.run(['status'], changes)).exitCode).toBe(0)
  })
})
