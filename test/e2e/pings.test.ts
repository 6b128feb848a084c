import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { shardOf } from '../../src/config/shard.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { startWorker } from '../worker/start-worker.ts'
import { type ManyTrial, nameOf, startMany } from './many-trial.ts'
import { jsonLines } from './run-dashkeep.ts'

const ids = [501, 502, 503, 504, 505, 506]
const monday = new Date('2026-11-16T03:15:00Z')
const tuesday = new Date('2026-11-17T06:00:00Z')

function idsOfShard(index: number, count: number): number[] {
  return ids.filter((id) => shardOf(nameOf(id), count) === index)
}

/** Of 99 shards one that has no account. */
const emptyShard = Array.from({ length: 99 }, (_, index) => index).find(
  (index) => idsOfShard(index, 99).length === 0,
)

/** What a run logged about pings that it skipped. */
function skippedPings(stderr: string): Record<string, unknown>[] {
  return jsonLines(stderr).filter(({ msg }) => String(msg).startsWith('ping skipped'))
}

/** Several accounts, and a receiver that `DASHKEEP_PING_URL` names with `path` behind it. */
async function startPinged(path: string, answer?: () => number) {
  const receiver = await startReceiver(answer)
  const trial = await startMany(ids)
  const env = { ...trial.changes, DASHKEEP_PING_URL: `${receiver.url}${path}` }
  return {
    receiver,
    trial,
    env,
    paths: () => receiver.received.map((one) => one.path),
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

function backUpShard(
  trial: ManyTrial,
  env: Environment,
  { shard, now = monday }: { shard: string; now?: Date },
) {
  return trial.runAt(now, ['backup', '--shard', shard], env)
}

describe('shards that back up', () => {
  it('ping an address each, so that a good one does not hide a failed one', async () => {
    await using pinged = await startPinged('/key/shard-{shard}?of={shard}')
    const { trial, env } = pinged
    const [refused = 0] = idsOfShard(1, 3)
    trial.sandbox.faults.add({ operation: 'whoami', account: refused, refused: true })
    for (const index of [0, 1, 2]) await backUpShard(trial, env, { shard: `${index}/3` })
    expect(pinged.paths()).toEqual([
      '/key/shard-0/start?of=0',
      '/key/shard-0?of=0',
      '/key/shard-1/start?of=1',
      '/key/shard-1/fail?of=1',
      '/key/shard-2/start?of=2',
      '/key/shard-2?of=2',
    ])
    expect(pinged.receiver.received[3]?.body).toContain(`failed ${nameOf(refused)}: `)
  })

  it('have their index from an Indexed Job of Kubernetes', async () => {
    await using pinged = await startPinged('/shard-{shard}')
    const { trial, env } = pinged
    const job = { DASHKEEP_SHARDS: '3', JOB_COMPLETION_INDEX: '2' }
    await trial.runAt(monday, ['backup'], { ...env, ...job })
    expect(pinged.paths()).toEqual(['/shard-2/start', '/shard-2'])
  })

  it('do not ping an address that all of them would share, and say so once', async () => {
    await using pinged = await startPinged('/all')
    const { trial, env } = pinged
    const { exitCode, stderr } = await backUpShard(trial, env, { shard: '0/3' })
    expect(exitCode).toBe(0)
    expect(pinged.paths()).toEqual([])
    expect(skippedPings(stderr)).toEqual([
      expect.objectContaining({
        level: 'info',
        kind: 'ping',
        msg: 'ping skipped: its address has no {shard}: a good shard would hide a failed one',
      }),
    ])
  })

  it('ping any address when there is one shard', async () => {
    await using pinged = await startPinged('/all')
    const { trial, env } = pinged
    await backUpShard(trial, env, { shard: '0/1' })
    await backUpShard(
      trial,
      { ...env, DASHKEEP_PING_URL: `${env.DASHKEEP_PING_URL}-{shard}` },
      {
        shard: '0/1',
      },
    )
    expect(pinged.paths()).toEqual(['/all/start', '/all', '/all-0/start', '/all-0'])
  })

  it('do not ping success without an account, and say so once', async () => {
    await using pinged = await startPinged('/shard-{shard}')
    const { trial, env } = pinged
    const { exitCode, stderr } = await backUpShard(trial, env, { shard: `${emptyShard}/99` })
    expect(exitCode).toBe(0)
    expect(pinged.paths()).toEqual([])
    expect(skippedPings(stderr)).toEqual([
      expect.objectContaining({
        level: 'info',
        msg: 'ping skipped: there is no account to back up',
      }),
    ])
  })

  it('ping failure without an account too', async () => {
    await using pinged = await startPinged('/shard-{shard}')
    const env = { ...pinged.env, DASHKEEP_STORE: 's3://bucket', AWS_CA_BUNDLE: '/no/such/file.pem' }
    const { exitCode } = await backUpShard(pinged.trial, env, { shard: `${emptyShard}/99` })
    expect(exitCode).toBe(2)
    expect(pinged.paths()).toEqual([`/shard-${emptyShard}/fail`])
  })
})

describe('a run over all accounts', () => {
  it('does not ping an address that is for shards, and warns once', async () => {
    await using pinged = await startPinged('/shard-{shard}')
    const { exitCode, stderr } = await pinged.trial.runAt(monday, ['backup'], pinged.env)
    expect(exitCode).toBe(0)
    expect(pinged.paths()).toEqual([])
    expect(skippedPings(stderr)).toEqual([
      expect.objectContaining({
        level: 'warn',
        msg: 'ping skipped: its address has {shard}, and this run is not for one shard',
      }),
    ])
  })
})

describe('the worker of a shard', () => {
  it('pings the address of its shard, and none without {shard}', async () => {
    await using pinged = await startPinged('')
    const { trial, receiver } = pinged
    const config = await trial.write('worker.yaml', {
      service: { baseUrl: trial.sandbox.url },
      accounts: ids.map((id) => ({ name: nameOf(id), token: { env: `TOKEN_${id}` } })),
      schedule: { cron: '15 3 * * *' },
      notifications: [
        { kind: 'ping', url: { env: 'SHARD_URL' } },
        { kind: 'ping', url: { env: 'WHOLE_URL' } },
      ],
    })
    await using worker = await startWorker({
      trial,
      env: {
        ...trial.env,
        ...trial.changes,
        DASHKEEP_CONFIG: config,
        DASHKEEP_SHARD: '1/3',
        SHARD_URL: `${receiver.url}/shard-{shard}`,
        WHOLE_URL: `${receiver.url}/whole`,
      },
      start: monday.toISOString(),
    })
    await worker.untilEnded(1)
    await worker.stop()
    expect(pinged.paths()).toEqual(['/shard-1/start', '/shard-1'])
  })
})

describe('a worker with --account', () => {
  it('pings only a failure, as backup does, and says why', async () => {
    await using pinged = await startPinged('/all')
    const { trial } = pinged
    const config = await trial.write('worker.yaml', {
      service: { baseUrl: trial.sandbox.url },
      accounts: ids.map((id) => ({ name: nameOf(id), token: { env: `TOKEN_${id}` } })),
      schedule: { cron: '15 3 * * *' },
      limits: { attempts: 1 },
    })
    await using worker = await startWorker({
      trial,
      env: { ...trial.env, ...pinged.env, DASHKEEP_CONFIG: config },
      start: monday.toISOString(),
      account: [nameOf(501)],
    })
    await worker.untilEnded(1)
    trial.sandbox.faults.add({ operation: 'whoami', refused: true, times: 1 })
    await worker.stepUntilEnded(24 * 3600_000, 2)
    await worker.stop()
    expect(pinged.paths()).toEqual(['/all/fail'])
    const skipped = worker.log().filter(({ msg }) => String(msg).startsWith('ping skipped'))
    const reason = '--account leaves out accounts, and a success would hide their failures'
    expect(new Set(skipped.map(({ msg }) => msg))).toEqual(new Set([`ping skipped: ${reason}`]))
  })
})

describe('status --ping', () => {
  const judge = ['status', '--max-age', '26h', '--ping']

  it('pings success when every account is good, and failure with the reason otherwise', async () => {
    await using pinged = await startPinged('/uuid')
    const { trial, env, receiver } = pinged
    for (const index of [0, 1, 2]) await backUpShard(trial, env, { shard: `${index}/3` })
    const good = await trial.runAt(monday, judge, env)
    expect([good.exitCode, pinged.paths()]).toEqual([0, ['/uuid']])
    expect(receiver.received[0]?.body).toMatch(
      /^dashkeep: 6 accounts good\nstatus of 2026-11-16 03:15:00 UTC, exit status 0\n/,
    )
    const stale = await trial.runAt(tuesday, judge, env)
    expect([stale.exitCode, pinged.paths().at(-1)]).toEqual([4, '/uuid/fail'])
    const body = receiver.received.at(-1)?.body
    expect(body).toMatch(/^dashkeep: of 6 accounts 6 not good\n/)
    expect(body).toMatch(
      /\nstale team-501: newest good snapshot \S+ of 2026-11-16 03:15:00 UTC \(1 day ago\)\n/,
    )
    expect(body).toContain('\nstatus of 2026-11-17 06:00:00 UTC, exit status 4\n')
    expect(stale.stdout).toContain('stale')
  })

  it('notices a shard that never ran, and one that stopped', async () => {
    await using pinged = await startPinged('/uuid')
    const { trial, env, receiver } = pinged
    for (const index of [0, 1]) await backUpShard(trial, env, { shard: `${index}/3` })
    await backUpShard(trial, env, { shard: '0/3', now: tuesday })
    const { exitCode } = await trial.runAt(tuesday, judge, env)
    expect([exitCode, pinged.paths()]).toEqual([4, ['/uuid/fail']])
    const told = receiver.received[0]?.body.split('\n') ?? []
    for (const id of ids) {
      const states = told.filter((line) => line.includes(`${nameOf(id)}:`))
      const state = ['', 'stale', 'missing'][shardOf(nameOf(id), 3)]
      expect(states).toEqual(state === '' ? [] : [expect.stringMatching(`^${state} `)])
    }
  })

  it('names a suspect snapshot with its reasons', async () => {
    await using pinged = await startPinged('/uuid')
    const { trial, env, receiver } = pinged
    await trial.runAt(monday, ['backup'], { ...env, DASHKEEP_PING_URL: undefined })
    trial.sandbox.setObjects(501, 'dashboard', [])
    await trial.runAt(tuesday, ['backup'], { ...env, DASHKEEP_PING_URL: undefined })
    const { exitCode } = await trial.runAt(tuesday, ['status', '--max-age', '30h', '--ping'], env)
    expect([exitCode, pinged.paths()]).toEqual([3, ['/uuid/fail']])
    expect(receiver.received[0]?.body).toMatch(
      /^dashkeep: of 6 accounts 1 not good\nsuspect team-501: dashboard: 0 objects, down from \d+; newest good snapshot /,
    )
  })

  it('pings failure when the archive cannot be read, or holds nothing', async () => {
    await using pinged = await startPinged('/uuid')
    const { trial, env, receiver } = pinged
    await writeFile(trial.archive, 'a file where the archive belongs')
    const failed = await trial.runAt(monday, judge, env)
    expect(failed.exitCode).toBeGreaterThan(0)
    expect(receiver.received[0]?.body).toMatch(/^dashkeep: the archive cannot be judged\nCannot /)
    await rm(trial.archive)
    const empty = await trial.runAt(monday, judge, env)
    expect([empty.exitCode, pinged.paths()]).toEqual([3, ['/uuid/fail', '/uuid/fail']])
    expect(receiver.received[1]?.body).toContain('\nmissing team-506: ')
  })

  it('pings every address but those for shards, with the exit status where that is wanted', async () => {
    await using pinged = await startPinged('')
    const { trial, receiver } = pinged
    const DASHKEEP_CONFIG = await trial.write('pings.yaml', {
      service: { baseUrl: trial.sandbox.url },
      accounts: [{ name: 'team-501', accountId: 501, token: { env: 'TOKEN_501' } }],
      notifications: [
        { kind: 'ping', url: { env: 'SHARD_URL' } },
        { kind: 'ping', url: { env: 'WHOLE_URL' } },
        { kind: 'ping', url: { env: 'STATUS_URL' }, exitStatus: true },
        { kind: 'slack', url: { env: 'SLACK_URL' } },
      ],
    })
    const env = {
      ...trial.changes,
      DASHKEEP_CONFIG,
      SHARD_URL: `${receiver.url}/shard-{shard}`,
      WHOLE_URL: `${receiver.url}/whole`,
      STATUS_URL: `${receiver.url}/status`,
      SLACK_URL: `${receiver.url}/slack`,
    }
    const { exitCode } = await trial.runAt(monday, judge, env)
    expect(exitCode).toBe(3)
    expect(pinged.paths().toSorted()).toEqual(['/status/3', '/whole/fail'])
  })

  it('keeps its exit code when nobody takes the ping, and says so without the address', async () => {
    await using pinged = await startPinged('/secret-uuid', () => 404)
    const { trial, env } = pinged
    await trial.runAt(monday, ['backup'], { ...env, DASHKEEP_PING_URL: undefined })
    const { exitCode, stdout, stderr } = await trial.runAt(monday, judge, env)
    expect(exitCode).toBe(0)
    expect(jsonLines(stderr).filter(({ msg }) => msg === 'notification failed')).toEqual([
      expect.objectContaining({ level: 'error', kind: 'ping' }),
    ])
    expect(stdout + stderr).not.toContain('secret-uuid')
  })

  it.each<[what: string, args: readonly string[], url: string | undefined, problem: RegExp]>([
    ['without an address', [], undefined, /Cannot ping: no ping address is configured/],
    ['with addresses for shards alone', [], '/{shard}', /Cannot ping: .* contains \{shard\}/],
    ['for one account', ['--account', 'team-501'], '', /Cannot use --ping with --account: /],
  ])('is refused %s', async (_what, args, url, problem) => {
    await using pinged = await startPinged(url ?? '')
    const { trial, env } = pinged
    const changes = url === undefined ? { DASHKEEP_PING_URL: undefined } : {}
    const { exitCode, stderr } = await trial.run([...judge, ...args], { ...env, ...changes })
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)])
    expect(pinged.paths()).toEqual([])
  })

  it('is refused without --max-age, since nothing would ever be stale', async () => {
    await using pinged = await startPinged('/uuid')
    const { exitCode, stderr } = await pinged.trial.run(['status', '--ping'], pinged.env)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/hint: add --max-age 26h/)])
    expect(pinged.paths()).toEqual([])
  })
})
