import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import { jsonLines, runDashkeep, until } from './run-dashkeep.ts'
import { accountsFrom, shortLimits, startTrial, type Trial } from './trial.ts'

const ids = [501, 502]

/** Two accounts in a file with more in it, and their tokens in variables. */
async function startTwo(changes: object): Promise<{ trial: Trial; env: Environment }> {
  const trial = await startTrial({ accounts: accountsFrom(ids) })
  const DASHKEEP_CONFIG = await trial.write('two.yaml', {
    service: { baseUrl: trial.sandbox.url },
    limits: shortLimits,
    accounts: ids.map((id) => ({
      name: `team-${id}`,
      accountId: id,
      token: { env: `TOKEN_${id}` },
    })),
    ...changes,
  })
  const tokens = { TOKEN_501: 'token-501', TOKEN_502: 'token-502' }
  return { trial, env: { DASHKEEP_CONFIG, DASHKEEP_API_TOKEN: undefined, ...tokens } }
}

/** Samples in the text format of Prometheus, by name with labels. */
function samplesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

const monday = new Date('2026-11-16T03:15:00Z')
const tuesday = new Date('2026-11-17T03:15:00Z')
const wednesday = new Date('2026-11-18T03:15:00Z')

describe('a single backup notifies', () => {
  it('of a failure, with the last good snapshot of the archive', async () => {
    await using receiver = await startReceiver()
    await using trial = await startTrial()
    const env = {
      DASHKEEP_ACCOUNT_ID: '100001',
      DASHKEEP_WEBHOOK_URL: `${receiver.url}/hook`,
      DASHKEEP_PING_URL: `${receiver.url}/ping`,
    }
    expect((await trial.runAt(monday, ['backup'], env)).exitCode).toBe(0)
    trial.sandbox.faults.add({ operation: 'whoami', refused: true })
    expect((await trial.runAt(wednesday, ['backup'], env)).exitCode).toBe(2)
    expect(receiver.pathsBelow('/ping')).toEqual(['/start', '', '/start', '/fail'])
    const [message, ...more] = receiver.jsonAt('/hook')
    expect(more).toEqual([])
    expect(message).toMatchObject({
      events: ['failure'],
      exitStatus: 2,
      accounts: [{ name: 'default', lastGood: { takenAt: monday.toISOString() } }],
    })
    expect(message?.text).toMatch(
      /last good snapshot \S+ of 2026-11-16 03:15:00 UTC \(2 days ago\)/,
    )
    expect(message?.text).toMatch(/\n {2}to do: /)
  })

  it('of no success when a run by hand leaves out the account that failed', async () => {
    await using receiver = await startReceiver()
    const { trial, env } = await startTwo({})
    await using _trial = trial
    const changes = { ...env, DASHKEEP_PING_URL: `${receiver.url}/ping` }
    const backUp = async (...accounts: string[]) => {
      const { exitCode } = await trial.runAt(monday, ['backup', ...accounts], changes)
      return [exitCode, receiver.pathsBelow('/ping').slice(2)]
    }
    trial.sandbox.faults.add({ operation: 'whoami', refused: true, times: 1 })
    expect(await backUp()).toEqual([3, []])
    expect(await backUp('--account', 'team-501')).toEqual([0, []])
    trial.sandbox.faults.add({ operation: 'whoami', refused: true, times: 1 })
    expect(await backUp('--account', 'team-501')).toEqual([2, ['/fail']])
    expect(await backUp('--account', '*')).toEqual([0, ['/fail', '/start', '']])
  })

  it('of a suspect snapshot and of the recovery from it', async () => {
    await using receiver = await startReceiver()
    await using trial = await startTrial()
    const env = { DASHKEEP_SLACK_URL: receiver.url }
    await trial.runAt(monday, ['backup'], env)
    const body = '{"kibanaVersion":"7.10.2","hits":[]}'
    trial.sandbox.faults.add({ operation: 'export', type: 'search', status: 200, body, times: 1 })
    expect((await trial.runAt(tuesday, ['backup'], env)).exitCode).toBe(3)
    expect((await trial.runAt(wednesday, ['backup'], env)).exitCode).toBe(0)
    const texts = receiver.jsonAt('/').map(({ text }) => text)
    expect(texts).toEqual([
      expect.stringMatching(
        /^dashkeep: of 1 account 1 suspect, 0 good\n```\nsuspect default: search: 0 obj/,
      ),
      expect.stringMatching(/^dashkeep: of 1 account 1 good\n```\nrecovered default: snapshot /),
    ])
    expect(texts[0]).toContain('run `dashkeep backup --accept-fall`')
  })

  it('of an interruption', async () => {
    await using receiver = await startReceiver()
    await using trial = await startTrial()
    trial.sandbox.faults.add({ operation: 'export', hang: true })
    const interruption = new AbortController()
    const finished = runDashkeep(['backup'], {
      env: { ...trial.env, DASHKEEP_PING_URL: receiver.url },
      signal: interruption.signal,
    })
    await until('an export hangs', () =>
      trial.sandbox.requests().some(({ operation }) => operation === 'export'),
    )
    interruption.abort(new Error('Interrupted by SIGTERM'))
    await finished
    expect(receiver.pathsBelow('/')).toEqual(['start', 'fail'])
    expect(receiver.received[1]?.body).toContain('Interrupted by SIGTERM')
  })

  it('without a secret, and does not fail when nobody receives it', async () => {
    await using receiver = await startReceiver(() => 404)
    const { trial, env } = await startTwo({
      notifications: [
        { kind: 'webhook', url: { env: 'HOOK' }, on: ['failure', 'success', 'change'] },
        { kind: 'ping', url: { env: 'HOOK' } },
      ],
      metrics: { pushgateway: receiver.url, textfile: '/proc/no/such/folder.prom' },
    })
    await using _trial = trial
    const HOOK = `${receiver.url}/secret-hook`
    const changes = { ...env, HOOK, TOKEN_502: 'token-of-nobody' }
    const { exitCode, stdout, stderr } = await trial.run(
      ['backup', '--log-level', 'debug'],
      changes,
    )
    expect(exitCode).toBe(3)
    const complaints = jsonLines(stderr).map(({ msg }) => msg)
    expect(complaints.filter((msg) => msg === 'notification failed')).toHaveLength(3)
    expect(complaints.filter((msg) => msg === 'metrics not exported')).toHaveLength(2)
    const told = JSON.stringify(receiver.received.map(({ body, headers }) => [body, headers]))
    expect(told).toContain('team-502')
    for (const secret of ['secret-hook', 'token-501', 'token-of-nobody']) {
      expect(told + stdout + stderr).not.toContain(secret)
    }
  })
})

describe('the metrics of a single backup', () => {
  it('go into a textfile, which keeps what is not known any more', async () => {
    const { trial, env } = await startTwo({})
    await using _trial = trial
    const folder = join(trial.folder, 'metrics')
    await mkdir(folder)
    const textfile = join(folder, 'dashkeep.prom')
    const changes = { ...env, DASHKEEP_METRICS_TEXTFILE: textfile }
    await trial.runAt(monday, ['backup'], changes)
    const first = samplesOf(await readFile(textfile, 'utf8'))
    expect(first).toMatchObject({
      'dashkeep_last_success_timestamp_seconds{account="team-501"}': monday.getTime() / 1000,
      'dashkeep_last_run_success{account="team-501"}': 1,
      'dashkeep_snapshot_objects{account="team-501"}': 9,
      'dashkeep_snapshot_suspect{account="team-502"}': 0,
      'dashkeep_runs_total{account="team-502",result="good"}': 1,
    })
    expect(first['dashkeep_stored_bytes_total{account="team-501"}']).toBeGreaterThan(100)
    expect(first['dashkeep_run_duration_seconds{account="team-501"}']).toBeGreaterThan(0)

    // Neither the service nor the archive answers.
    trial.sandbox.faults.add({ operation: 'whoami', account: 501, refused: true })
    await rename(trial.archive, `${trial.archive}-elsewhere`)
    await trial.runAt(tuesday, ['backup'], changes)
    expect(samplesOf(await readFile(textfile, 'utf8'))).toMatchObject({
      'dashkeep_last_success_timestamp_seconds{account="team-501"}': monday.getTime() / 1000,
      'dashkeep_last_run_timestamp_seconds{account="team-501"}': tuesday.getTime() / 1000,
      'dashkeep_last_run_success{account="team-501"}': 0,
      'dashkeep_snapshot_objects{account="team-501"}': 9,
      'dashkeep_snapshot_suspect{account="team-501"}': 0,
      'dashkeep_last_success_timestamp_seconds{account="team-502"}': tuesday.getTime() / 1000,
    })
    expect(await readdir(folder)).toEqual(['dashkeep.prom'])
  })

  it('go into a textfile, which keeps the accounts that the run left out', async () => {
    const { trial, env } = await startTwo({})
    await using _trial = trial
    const textfile = join(trial.folder, 'dashkeep.prom')
    const changes = { ...env, DASHKEEP_METRICS_TEXTFILE: textfile }
    await trial.runAt(monday, ['backup'], changes)
    const before = samplesOf(await readFile(textfile, 'utf8'))
    await trial.runAt(tuesday, ['backup', '--account', 'team-501'], changes)
    const after = samplesOf(await readFile(textfile, 'utf8'))
    const of502 = (samples: object) =>
      Object.entries(samples).filter(([name]) => name.includes('"team-502"'))
    expect(of502(after)).toEqual(of502(before))
    expect(of502(after)).toHaveLength(11)
    expect(after['dashkeep_last_success_timestamp_seconds{account="team-501"}']).toBe(
      tuesday.getTime() / 1000,
    )

    const one = await trial.write('one.yaml', {
      service: { baseUrl: trial.sandbox.url },
      accounts: [{ name: 'team-501', accountId: 501, token: { env: 'TOKEN_501' } }],
    })
    await trial.runAt(wednesday, ['backup'], { ...changes, DASHKEEP_CONFIG: one })
    expect(of502(samplesOf(await readFile(textfile, 'utf8')))).toEqual([])
  })

  it('are pushed, each account in a group of its own', async () => {
    await using receiver = await startReceiver()
    const { trial, env } = await startTwo({})
    await using _trial = trial
    const changes = { ...env, DASHKEEP_PUSHGATEWAY: `${receiver.url}/gateway/` }
    await trial.runAt(monday, ['backup'], changes)
    const base = '/gateway/metrics/job/dashkeep/account/'
    expect(receiver.pathsBelow(base).toSorted()).toEqual(['team-501', 'team-502'])
    for (const { path, body, headers } of receiver.received) {
      const account = path.slice(base.length)
      expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
      const samples = samplesOf(body)
      expect(Object.keys(samples).every((name) => name.includes(`account="${account}"`))).toBe(true)
      expect(samples[`dashkeep_last_success_timestamp_seconds{account="${account}"}`]).toBe(
        monday.getTime() / 1000,
      )
    }
  })
})
