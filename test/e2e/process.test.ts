import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { askDashkeep, runDashkeep, until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { startTrial, type Trial } from './trial.ts'

const verbs = [
  'backup',
  'worker',
  'list',
  'show',
  'verify',
  'status',
  'prune',
  'pin',
  'unpin',
  'whoami',
  'doctor',
  'config check',
  'config print',
  'config schema',
  'sandbox',
  'demo',
]

describe('help', () => {
  it.each(verbs)('of %s says what it does, in lines that fit a terminal', async (verb) => {
    const { exitCode, stdout } = await runDashkeep([...verb.split(' '), '--help'], { env: {} })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Usage: dashkeep ${verb} `))
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    for (const line of stdout.split('\n\n')[1]?.split('\n').slice(0, -1) ?? []) {
      expect(line.length).toBeGreaterThan(40)
    }
  })

  it('names every verb and exit code', async () => {
    const { stdout } = await runDashkeep(['--help'], { env: {} })
    for (const verb of verbs) expect(stdout).toContain(`  ${verb.split(' ')[0]}`)
    for (const code of [0, 1, 2, 3, 4, 5, 130, 143]) expect(stdout).toContain(`${code}`)
  })
})

describe('a command line that cannot be followed', () => {
  const wrong = [
    [],
    ['bakcup'],
    ['backup', '--fast'],
    ['list', 'x'],
    ['prune', '--keep-last'],
    ['pin'],
  ]
  it.each(wrong)('ends with exit code 2 and a word: %s %s', async (...args) => {
    const given = args.filter((arg) => arg !== undefined)
    const { exitCode, stdout, stderr } = await runDashkeep(given, { env: {} })
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).not.toBe('')
  })

  it('suggests the verb that was meant', async () => {
    const { stderr } = await runDashkeep(['bakcup'], { env: {} })
    expect(stderr).toContain('backup')
  })
})

/** A backup whose second export never ends, so that a signal meets it in the middle. */
async function startHanging(trial: Trial, changes: Environment = {}) {
  trial.sandbox.faults.add({ operation: 'export', type: 'visualization', hang: true })
  const spawned = spawnDashkeep(['backup'], { env: { ...trial.env, ...changes } })
  await until('the second export is asked for', () =>
    trial.sandbox.requests().some(({ type }) => type === 'visualization'),
  )
  return spawned
}

describe('a process', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 143],
  ] as const)('stops at once on %s with exit code %i, and leaves nothing', async (signal, code) => {
    await using trial = await startTrial()
    await using spawned = await startHanging(trial)
    spawned.kill(signal)
    const { exitCode, stderr } = await spawned.finished
    expect(exitCode).toBe(code)
    expect(stderr).toContain(`Interrupted by ${signal}`)
    expect((await trial.files()).size).toBe(0)
  })

  it('pings with its exit code', async () => {
    await using receiver = await startReceiver()
    await using trial = await startTrial()
    const ping = { kind: 'ping', url: { env: 'PING_URL' }, exitStatus: true }
    const config = await trial.write('ping.yaml', { notifications: [ping] })
    const env = { DASHKEEP_CONFIG: config, PING_URL: `${receiver.url}/job` }
    await using spawned = await startHanging(trial, env)
    spawned.kill('SIGTERM')
    const { exitCode, stderr } = await spawned.finished
    expect(exitCode).toBe(143)
    expect(stderr).toContain('"exitCode":143')
    expect(receiver.pathsBelow('/job')).toEqual(['/start', '/143'])
    expect(receiver.received.at(-1)?.body).toContain('exit status 143')
  })

  it('keeps the exit code that it has told its pings when a signal comes after that', async () => {
    let isTold = false
    await using receiver = await startReceiver(({ path }) => {
      if (path.endsWith('/start')) return 200
      isTold = true
      return new Promise(() => {})
    })
    await using trial = await startTrial()
    const env = { ...trial.env, DASHKEEP_PING_URL: `${receiver.url}/job` }
    await using spawned = spawnDashkeep(['backup'], { env })
    await until('the end is told', () => isTold)
    spawned.kill('SIGTERM')
    const { exitCode, stderr } = await spawned.finished
    expect(stderr).toContain('"exitCode":0')
    expect(exitCode).toBe(0)
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('stops within seconds while receivers of notifications and metrics hang', async () => {
    await using receiver = await startReceiver(() => new Promise(() => {}))
    await using trial = await startTrial()
    const url = { env: 'PING_URL' }
    const config = await trial.write('hanging.yaml', {
      notifications: [
        { kind: 'ping', url },
        { kind: 'webhook', url },
      ],
      metrics: { pushgateway: receiver.url },
    })
    const env = { DASHKEEP_CONFIG: config, PING_URL: `${receiver.url}/job` }
    await using spawned = await startHanging(trial, env)
    const begun = performance.now()
    spawned.kill('SIGTERM')
    expect((await spawned.finished).exitCode).toBe(143)
    expect(performance.now() - begun).toBeLessThan(8000)
  })

  it('continues when nobody reads its log any more', async () => {
    await using trial = await startTrial()
    await using spawned = spawnDashkeep(['backup'], { env: trial.env, withoutReader: true })
    expect((await spawned.finished).exitCode).toBe(0)
    expect(await trial.snapshots()).toHaveLength(1)
  })

  it('that is killed leaves no snapshot, and does not hinder the next', async () => {
    await using trial = await startTrial()
    await using spawned = await startHanging(trial)
    spawned.kill('SIGKILL')
    expect(await spawned.finished).toMatchObject({ signal: 'SIGKILL' })
    trial.sandbox.faults.clear()
    expect(await trial.snapshots()).toEqual([])
    expect((await trial.run(['backup'])).exitCode).toBe(0)
    expect((await trial.run(['verify'])).exitCode).toBe(0)
  })

  it('runs the demo to its end, and leaves the folder to look at', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dashkeep-demo-'))
    try {
      await using spawned = spawnDashkeep(['demo', '--folder', folder], { env: {} })
      const { exitCode, stdout, stderr } = await spawned.finished
      expect([exitCode, stderr]).toEqual([0, ''])
      expect(stdout).toContain('verified 3 snapshots')
      // The way back: the search that was deleted is found, restored, and there again.
      expect(stdout).toMatch(
        /\n\$ dashkeep history 'Failed orders'\nsearch:failed-orders .*\n(.*\n)+.* disappeared\n/,
      )
      expect(stdout).toMatch(
        /\n\$ dashkeep restore latest~1 --object 'Failed orders' --to-service --yes\n(.*\n)+restored 1 of 1 object, confirmed by a fresh export\n/,
      )
      expect(stdout).toMatch(/1 added\n {2}\+ search:failed-orders {2}Failed orders\n/)
      const env = { DASHKEEP_STORE: `file://${folder}` }
      expect((await runDashkeep(['list'], { env })).stdout).toContain('4 snapshots')
      expect((await runDashkeep(['verify'], { env })).exitCode).toBe(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

describe('a question on a terminal', () => {
  it.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('that is answered by %s ends with exit code 130 and removes nothing', async (_name, key) => {
    await using trial = await startTrial()
    for (const day of ['18', '19', '20']) {
      const now = new Date(`2026-11-${day}T12:00:00Z`)
      expect((await trial.runAt(now, ['backup'])).exitCode).toBe(0)
    }
    const { exitCode, stderr } = await askDashkeep(['prune', '--keep-last', '1'], {
      env: trial.env,
      key,
    })
    expect(stderr).toContain('[y/N]')
    // The error begins a line of its own.
    expect(stderr).not.toMatch(/\[y\/N\].*error/)
    expect(stderr).toContain('Interrupted by SIGINT')
    expect(stderr).not.toContain('defect')
    expect(exitCode).toBe(130)
    expect(await trial.snapshots()).toHaveLength(3)
  })
})

describe('runs in the same second', () => {
  it('take names that sort in the order of the runs, and all verify', async () => {
    await using trial = await startTrial()
    const moment = new Date('2026-11-20T12:00:00Z')
    for (let run = 0; run < 5; run += 1) {
      expect((await trial.runAt(moment, ['backup', '--full'])).exitCode).toBe(0)
    }
    const verified = await trial.run(['verify', '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ snapshots: 5, defects: 0 })
    const chain = []
    for (const snapshot of await trial.snapshots()) {
      const { stdout } = await trial.run(['show', snapshot, '--json'])
      const { previous } = JSON.parse(stdout) as { previous?: { snapshot: string } }
      chain.push(previous?.snapshot)
    }
    expect(chain).toEqual([undefined, ...(await trial.snapshots()).slice(0, -1)])
  })

  it('do not meet when they run side by side', async () => {
    await using trial = await startTrial()
    const moment = new Date('2026-11-20T12:00:00Z')
    const runs = Array.from({ length: 4 }, () => trial.runAt(moment, ['backup']))
    for (const { exitCode } of await Promise.all(runs)) expect(exitCode).toBe(0)
    const verified = await trial.run(['verify', '--json'])
    expect(JSON.parse(verified.stdout)).toMatchObject({ snapshots: 4, defects: 0 })
  })
})
