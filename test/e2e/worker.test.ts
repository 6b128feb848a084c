import { describe, expect, it } from 'vitest'
import { startReceiver } from '../run/notify/receiver.ts'
import { jsonLines, runDashkeep, until } from './run-dashkeep.ts'
import { type Spawned, spawnDashkeep } from './spawn-dashkeep.ts'
import { startTrial, type Trial } from './trial.ts'

/** A worker in a process of its own, whose schedule is due at New Year. */
function spawnWorker({ env }: Trial): Spawned {
  const more = { DASHKEEP_SCHEDULE: '0 0 1 1 *', DASHKEEP_LISTEN: '127.0.0.1:0' }
  return spawnDashkeep(['worker'], { env: { ...env, ...more } })
}

function messagesOf(stderr: string): unknown[] {
  return jsonLines(stderr).map(({ msg }) => msg)
}

describe('a worker process', () => {
  it('catches up, serves metrics and health, and stops on SIGTERM with exit code 143', async () => {
    await using trial = await startTrial()
    await using worker = spawnWorker(trial)
    await until('it has caught up', () => worker.stderr().includes('"run ended"'))
    const [begun] = jsonLines(worker.stderr())
    for (const path of ['/healthz', '/readyz']) {
      expect((await fetch(`${begun?.url}${path}`)).status).toBe(200)
    }
    const metrics = await fetch(`${begun?.url}/metrics`)
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(await metrics.text()).toContain('dashkeep_runs_total{account="default",result="good"} 1')
    expect((await fetch(`${begun?.url}/`)).status).toBe(404)
    expect((await fetch(`${begun?.url}/metrics`, { method: 'POST' })).status).toBe(405)
    worker.kill('SIGTERM')
    const { exitCode, signal, stdout, stderr } = await worker.finished
    expect([exitCode, signal, stdout]).toEqual([143, null, ''])
    expect(messagesOf(stderr)).toEqual([
      'worker started',
      'catching up',
      expect.stringMatching(/schedule started|run started/),
      expect.stringMatching(/schedule started|run started/),
      'snapshot taken',
      'run ended',
      'stopping',
      'stopped',
    ])
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends the run under way on %s in order, and leaves nothing', async (name, code) => {
    await using trial = await startTrial()
    trial.sandbox.faults.add({ operation: 'export', type: 'visualization', hang: true })
    await using worker = spawnWorker(trial)
    await until('the second export is asked for', () =>
      trial.sandbox.requests().some(({ type }) => type === 'visualization'),
    )
    worker.kill(name)
    const { exitCode, stderr } = await worker.finished
    expect(exitCode).toBe(code)
    expect(messagesOf(stderr).slice(-4)).toEqual([
      'stopping',
      'backup interrupted',
      'run interrupted',
      'stopped',
    ])
    expect((await trial.files()).size).toBe(0)
  })

  it('ends after the grace period, also during a run', async () => {
    await using trial = await startTrial()
    await using receiver = await startReceiver(() => new Promise<number>(() => {}))
    const DASHKEEP_CONFIG = await trial.write('grace.yaml', { worker: { grace: '0s' } })
    const env = { ...trial.env, DASHKEEP_CONFIG, DASHKEEP_PING_URL: receiver.url }
    await using worker = spawnWorker({ ...trial, env })
    await until('the ping hangs', () => worker.stderr().includes('"run ended"'))
    worker.kill('SIGTERM')
    const { exitCode, stderr } = await worker.finished
    expect(exitCode).toBe(143)
    expect(messagesOf(stderr).slice(-3)).toEqual([
      'stopping',
      'the run in progress did not end within the grace period',
      'stopped',
    ])
  })
})

describe('the worker verb', () => {
  it('asks for a schedule', async () => {
    await using trial = await startTrial()
    const { exitCode, stderr } = await trial.run(['worker'], { DASHKEEP_LISTEN: 'false' })
    expect(exitCode).toBe(2)
    expect(stderr).toBe(
      'error: Cannot follow a schedule: none is configured\nhint: set schedule.cron or DASHKEEP_SCHEDULE, such as "15 3 * * *"\n',
    )
  })

  it.each([
    [
      'a schedule by the second',
      { DASHKEEP_SCHEDULE: '30 0 3 * * *' },
      'DASHKEEP_SCHEDULE: expected a cron',
    ],
    [
      'an address without a port',
      { DASHKEEP_LISTEN: 'localhost' },
      'DASHKEEP_LISTEN: expected host:port',
    ],
    [
      'a textfile nobody reads',
      { DASHKEEP_METRICS_TEXTFILE: '/x.txt' },
      'DASHKEEP_METRICS_TEXTFILE: expected a path that ends in .prom',
    ],
    [
      'a gateway that is none',
      { DASHKEEP_PUSHGATEWAY: 'gateway:9091' },
      'DASHKEEP_PUSHGATEWAY: expected an http://',
    ],
  ])('refuses %s', async (_, changes, problem) => {
    const { exitCode, stderr } = await runDashkeep(['config', 'print'], { env: changes })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)])
  })

  it('listens only on its own machine by default', async () => {
    await using trial = await startTrial()
    const { stdout } = await trial.run(['config', 'print', '--json'])
    expect(JSON.parse(stdout).worker.listen).toBe('127.0.0.1:5337')
  })

  it('refuses what a file gets wrong, each with its path', async () => {
    await using trial = await startTrial()
    const DASHKEEP_CONFIG = await trial.write('wrong.yaml', {
      schedule: { cron: '@daily', jitter: 'soon', pruneAfter: true },
      worker: { listen: true },
      notifications: [
        { kind: 'webhook', url: 'https://hooks.example.com/secret' },
        { kind: 'ping', url: { env: 'PING' }, on: ['failure'] },
        { kind: 'slack', url: { env: 'SLACK' }, on: ['failures'] },
        { kind: 'pager', url: { env: 'PAGER' } },
      ],
    })
    const { exitCode, stderr } = await trial.run(['backup'], { DASHKEEP_CONFIG })
    expect(exitCode).toBe(2)
    for (const problem of [
      'schedule.jitter: expected a duration',
      'worker.listen: expected host:port',
      'notifications.0.url: expected env: NAME_OF_VARIABLE or file: /path',
      'notifications.1.on: unknown key',
      'notifications.2.on.0: ',
      'notifications.3.kind: ',
    ]) {
      expect(stderr).toContain(`\n  - ${problem}`)
    }
    expect(stderr).not.toContain('hooks.example.com')
    const unruly = await trial.write('unruly.yaml', {
      schedule: { cron: '@daily', pruneAfter: true },
    })
    const { stderr: second } = await trial.run(['backup'], { DASHKEEP_CONFIG: unruly })
    expect(second).toContain('schedule.pruneAfter: needs retention, which says what to keep')
  })
})
