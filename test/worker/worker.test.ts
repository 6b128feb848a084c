import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { until } from '../e2e/run-dashkeep.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { startWorker } from './start-worker.ts'
import { minutes } from './stepped-clock.ts'
import { countSnapshots, prepare, start } from './two-accounts.ts'

describe('a worker', () => {
  it('catches up at the start, then follows its schedule', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    expect(await countSnapshots(trial)).toEqual([1, 1])
    await worker.stepUntilEnded(3 * minutes, 1)
    expect(await countSnapshots(trial)).toEqual([1, 1])
    await worker.stepUntilEnded(1 * minutes, 2)
    expect(await countSnapshots(trial)).toEqual([2, 2])
    expect(await worker.metric('dashkeep_next_run_timestamp_seconds')).toBe(
      Date.parse('2026-11-20T12:10:00Z') / 1000,
    )
  })

  it('backs up at the start only accounts that are late in the archive', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    const before = new Date('2026-11-20T12:00:30Z')
    await trial.runAt(before, ['backup', '--account', 'team-501'], env)
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    expect(await countSnapshots(trial)).toEqual([1, 1])
    expect(await worker.metric('dashkeep_last_success_timestamp_seconds{account="team-501"}')).toBe(
      before.getTime() / 1000,
    )
    expect(await worker.metric('dashkeep_snapshot_objects{account="team-501"}')).toBe(9)
    expect(await worker.metric('dashkeep_snapshot_suspect{account="team-501"}')).toBe(0)
  })

  it('ignores a snapshot that verify found damaged, and backs up at once', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    const sound = new Date('2026-11-19T12:00:30Z')
    await trial.runAt(sound, ['backup'], env)
    await trial.runAt(new Date('2026-11-20T12:00:30Z'), ['backup', '--full'], env)
    const isNewest = (key: string) => /^501\/20261120T120030Z-\w+\/manifest\.json$/.test(key)
    const manifest = [...(await trial.files()).keys()].find(isNewest) ?? ''
    await writeFile(join(trial.archive, manifest, '../damaged.json'), '{}')
    trial.sandbox.faults.add({ operation: 'export', status: 400, times: 99 })
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    expect(worker.log().find(({ msg }) => msg === 'catching up')).toMatchObject({ accounts: 1 })
    const metric = 'dashkeep_last_success_timestamp_seconds{account="team-501"}'
    expect(await worker.metric(metric)).toBe(sound.getTime() / 1000)
  })

  it('does not run at the start when no account is late, for tokens of any account', async () => {
    const { trial, env, config } = await prepare()
    await using _trial = trial
    const accounts = config.accounts.map(({ name, token }) => ({ name, token }))
    await trial.write('dashkeep.yaml', { ...config, accounts })
    await trial.runAt(new Date('2026-11-20T12:00:30Z'), ['backup'], env)
    await using worker = await startWorker({ trial, env, start })
    await worker.stepUntilEnded(3 * minutes, 0)
    expect(await countSnapshots(trial)).toEqual([1, 1])
  })

  it('finds an account that is configured twice when another worker backs up the other one', async () => {
    const { trial, env, config } = await prepare()
    await using _trial = trial
    const [first, second] = config.accounts
    const accounts = [first, { ...second, accountId: first?.accountId }]
    await trial.write('dashkeep.yaml', { ...config, accounts })
    await using worker = await startWorker({ trial, env, start, account: ['team-501'] })
    await worker.untilEnded(1)
    expect(worker.log().find(({ msg }) => msg === 'backup failed')?.reason).toContain('team-502')
    expect(await countSnapshots(trial)).toEqual([0, 0])
  })

  it('delays a due run by the jitter, but not a catch-up', async () => {
    const { trial, env } = await prepare({ schedule: { cron: '*/5 * * * *', jitter: '2m' } })
    await using _trial = trial
    await using worker = await startWorker({ trial, env, start, random: () => 0.5 })
    await worker.untilEnded(1)
    const caughtUp = trial.sandbox.requests().length
    await worker.clock.step(4 * minutes + 59_000)
    expect(trial.sandbox.requests()).toHaveLength(caughtUp)
    await worker.stepUntilEnded(1000, 2)
    expect(await countSnapshots(trial)).toEqual([2, 2])
  })

  it('backs up the other accounts after a catch-up that was still in progress', async () => {
    const { trial, env } = await prepare({ schedule: { cron: '*/5 * * * *', deadline: '10m' } })
    await using _trial = trial
    const before = new Date('2026-11-20T12:00:30Z')
    await trial.runAt(before, ['backup', '--account', 'team-502'], env)
    trial.sandbox.faults.add({ operation: 'export', account: 501, hang: true })
    await using worker = await startWorker({ trial, env, start })
    await until('an export hangs', () =>
      trial.sandbox
        .requests()
        .some(({ operation, account }) => operation === 'export' && account === 501),
    )
    await worker.clock.step(9 * minutes)
    expect(worker.log().filter(({ msg }) => msg === 'run waits for the catch-up')).toMatchObject([
      { due: '2026-11-20T12:05:00.000Z', accounts: 1 },
    ])
    expect(await worker.metric('dashkeep_skipped_runs_total')).toBe(1)
    await worker.stepUntilEnded(1 * minutes, 2)
    expect(await countSnapshots(trial)).toEqual([0, 2])
    expect(worker.log().findLast(({ msg }) => msg === 'run started')?.accounts).toBe(1)
  })

  it('skips a run while the previous one is in progress, logs and counts it', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    trial.sandbox.faults.add({ operation: 'export', type: 'search', hang: true, times: 1 })
    await using worker = await startWorker({ trial, env, start })
    await until('an export hangs', () =>
      trial.sandbox.requests().some(({ operation }) => operation === 'export'),
    )
    await worker.clock.step(10 * minutes)
    expect(await worker.metric('dashkeep_skipped_runs_total')).toBe(2)
    const skipped = worker.log().filter(({ msg }) => String(msg).startsWith('run skipped'))
    expect(skipped.map(({ due }) => due)).toEqual([
      '2026-11-20T12:05:00.000Z',
      '2026-11-20T12:10:00.000Z',
    ])
  })

  it('ends a run that takes too long, and keeps its finished snapshots', async () => {
    const { trial, env } = await prepare({ schedule: { cron: '0 * * * *', deadline: '10m' } })
    await using _trial = trial
    trial.sandbox.faults.add({ operation: 'export', account: 502, hang: true })
    await using worker = await startWorker({ trial, env, start })
    await until('one account is done', () =>
      worker.log().some(({ msg }) => msg === 'snapshot taken'),
    )
    await worker.stepUntilEnded(10 * minutes, 1)
    expect(await countSnapshots(trial)).toEqual([1, 0])
    const failed = worker.log().find(({ msg }) => msg === 'backup failed')
    expect(failed).toMatchObject({
      account: 'team-502',
      reason: 'Cannot finish the run: it takes longer than 600 s',
    })
    expect(worker.log().find(({ msg }) => msg === 'run ended')).toMatchObject({
      good: 1,
      failed: 1,
      exitCode: 3,
    })
  })

  it('prunes after good runs, account by account', async () => {
    const schedule = { cron: '*/5 * * * *', pruneAfter: true }
    const { trial, env } = await prepare({ schedule, retention: { last: 1 } })
    await using _trial = trial
    for (const time of ['11:00', '11:20', '11:40']) {
      await trial.runAt(new Date(`2026-11-18T${time}:00Z`), ['backup', '--full'], env)
    }
    trial.sandbox.faults.add({ operation: 'whoami', account: 502, refused: true })
    await using worker = await startWorker({ trial, env, start })
    await worker.untilEnded(1)
    const [pruned = 0, kept] = await countSnapshots(trial)
    expect(pruned).toBeLessThan(4)
    expect(kept).toBe(3)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
    expect(worker.log().find(({ msg }) => msg === 'pruned')).toMatchObject({ account: 'team-501' })
  })

  it('reports a bad day in order: log, metrics, readiness, webhook and ping', async () => {
    await using receiver = await startReceiver()
    const { trial, env, config } = await prepare({
      notifications: [
        { kind: 'webhook', url: { env: 'HOOK' }, on: ['failure', 'suspect', 'recovery'] },
        { kind: 'ping', url: { env: 'PING' } },
      ],
    })
    await using _trial = trial
    const addresses = { HOOK: `${receiver.url}/hook`, PING: `${receiver.url}/ping/secret-uuid` }
    await using worker = await startWorker({ trial, env: { ...env, ...addresses }, start })
    const ready = async () => (await worker.ask('/readyz')).status
    const lastSuccess = 'dashkeep_last_success_timestamp_seconds{account="team-501"}'
    await worker.untilEnded(1)
    expect([await ready(), await worker.metric(lastSuccess)]).toEqual([
      200,
      Date.parse(start) / 1000,
    ])

    trial.sandbox.faults.add({ operation: 'export', status: 503 })
    await worker.stepUntilEnded(4 * minutes, 2)
    await worker.stepUntilEnded(5 * minutes, 3)
    expect([await ready(), await worker.metric(lastSuccess)]).toEqual([
      200,
      Date.parse(start) / 1000,
    ])
    expect(await worker.metric('dashkeep_runs_total{account="team-501",result="failed"}')).toBe(2)
    expect(await worker.metric('dashkeep_last_run_success{account="team-501"}')).toBe(0)
    expect(await worker.metric('dashkeep_retries_total{account="team-501"}')).toBe(12)

    trial.sandbox.faults.clear()
    await worker.stepUntilEnded(5 * minutes, 4)
    const recoveredAt = Date.parse('2026-11-20T12:15:00Z') / 1000
    expect(await worker.metric(lastSuccess)).toBe(recoveredAt)

    await writeFile(env.DASHKEEP_CONFIG, 'accounts: nonsense')
    await worker.clock.step(1 * minutes)
    await worker.untilLogged('configuration is invalid')
    expect(await worker.ask('/readyz')).toEqual({
      status: 503,
      text: 'not ready: the configuration is invalid\n',
    })
    await worker.stepUntilEnded(4 * minutes, 5)
    expect((await worker.ask('/healthz')).status).toBe(200)
    expect(await worker.metric('dashkeep_config_good')).toBe(0)
    expect(await worker.metric('dashkeep_failed_runs_total')).toBe(1)

    await trial.write('dashkeep.yaml', config)
    await worker.stepUntilEnded(1 * minutes, 6)
    expect([await ready(), await worker.metric('dashkeep_config_good')]).toEqual([200, 1])

    expect(receiver.pathsBelow('/ping/secret-uuid')).toEqual(
      ['', '/fail', '/fail', '', '/fail', ''].flatMap((end) => ['/start', end]),
    )
    const told = receiver.jsonAt('/hook')
    expect(told.map(({ events }) => events)).toEqual([
      ['failure'],
      ['failure'],
      ['recovery'],
      ['failure'],
      ['recovery'],
    ])
    expect(told[1]?.text).toContain('dashkeep: of 2 accounts 2 failed, 0 good')
    expect(told[1]?.text).toContain('not good since 2026-11-20 12:05:00 UTC (5 minutes ago)')
    expect(told[1]?.text).toMatch(
      /last good snapshot 20261120T120100Z-\w{6} of 2026-11-20 12:01:00/,
    )
    expect(told[2]?.text).toContain(
      'had not been good since 2026-11-20 12:05:00 UTC (10 minutes ago)',
    )
    expect(told[3]?.text).toMatch(/^dashkeep: the backup failed\nCannot use the configuration/)
    expect(JSON.stringify(receiver.received.map(({ body }) => body))).not.toMatch(/secret|token-50/)
    expect(await countSnapshots(trial)).toEqual([3, 3])
  })

  it('pings success only after the snapshot is complete, with the log of the run', async () => {
    const seen: number[][] = []
    const { trial, env } = await prepare()
    await using _trial = trial
    await using receiver = await startReceiver(async () => {
      seen.push(await countSnapshots(trial))
      return 200
    })
    await using worker = await startWorker({
      trial,
      env: { ...env, DASHKEEP_PING_URL: receiver.url },
      start,
    })
    await worker.untilEnded(1)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/start', '/'])
    expect(seen.at(-1)).toEqual([1, 1])
    const [text = '', ...log] = receiver.received[1]?.body.split('\n\n') ?? []
    expect(text).toMatch(
      /^dashkeep: of 2 accounts 2 good\ngood team-501: snapshot \S+, \d+ objects\n/,
    )
    const logged = log
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(logged.map(({ msg }) => msg)).toEqual([
      'run started',
      'snapshot taken',
      'snapshot taken',
      'run ended',
    ])
    expect(new Set(logged.map(({ run }) => run)).size).toBe(1)
  })

  it('stops in order: ends the run, leaves no files, sends no failure', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using receiver = await startReceiver()
    trial.sandbox.faults.add({ operation: 'export', type: 'dashboard', hang: true })
    const worker = await startWorker({
      trial,
      env: { ...env, DASHKEEP_PING_URL: receiver.url },
      start,
    })
    await until('an export hangs', () =>
      trial.sandbox.requests().some(({ type }) => type === 'dashboard'),
    )
    await worker.stop()
    expect(
      worker
        .log()
        .map(({ msg }) => msg)
        .slice(-5),
    ).toEqual([
      'stopping',
      'backup interrupted',
      'backup interrupted',
      'run interrupted',
      'stopped',
    ])
    expect([...(await trial.files()).keys()]).toEqual([])
    expect(receiver.pathsBelow('/')).toEqual(['start'])
    await expect(worker.ask('/healthz')).rejects.toThrow()
  })
})
