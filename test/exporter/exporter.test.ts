import { once } from 'node:events'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { checkout } from '../documentation/blocks.ts'
import { runDashkeep, until } from '../e2e/run-dashkeep.ts'
import { spawnDashkeep } from '../e2e/spawn-dashkeep.ts'
import { accountsFrom, shortLimits, startTrial, type Trial, types } from '../e2e/trial.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { neverAnswer, serverCredentials, startServer } from '../s3-server/stub.ts'
import { hours, minutes } from '../worker/stepped-clock.ts'
import { samplesOf, startExporter } from './start-exporter.ts'

const ids = [501, 502, 503]
const start = '2026-11-20T12:00:00Z'
const fresh = new Date('2026-11-20T03:15:00Z')
const old = new Date('2026-11-18T03:15:00Z')

/** Three accounts; the last one is configured without its id. */
async function prepare() {
  const trial = await startTrial({ accounts: accountsFrom(ids) })
  const accounts = []
  for (const id of ids) {
    const file = await trial.write(`token-${id}`, `token-${id}\n`)
    const accountId = id === 503 ? undefined : id
    accounts.push({ name: `team-${id}`, ...(accountId && { accountId }), token: { file } })
  }
  const config = { service: { baseUrl: trial.sandbox.url }, limits: shortLimits, accounts }
  const env = {
    DASHKEEP_STORE: trial.env.DASHKEEP_STORE,
    DASHKEEP_CONFIG: await trial.write('dashkeep.yaml', config),
  }
  const backUp = (id: number, at: Date, changes: Environment = env) =>
    trial.runAt(at, ['backup', '-a', `team-${id}`], quiet(changes))
  return { trial, config, env, backUp }
}

function quiet(env: Environment): Environment {
  return { ...env, DASHKEEP_BASE_URL: undefined, DASHKEEP_API_TOKEN: undefined }
}

/** The state of each account, as the exporter tells it. */
function statesOf(samples: Record<string, number>): Record<string, string> {
  const pattern = /^dashkeep_account_state\{account="(.+)",state="(.+)"\}$/
  const found = Object.keys(samples).flatMap((name) => [pattern.exec(name) ?? []])
  return Object.fromEntries(
    found.filter(([all]) => all).map(([, account, state]) => [account, state]),
  )
}

describe('an exporter', () => {
  it('reports every configured account like status', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, old)
    await backUp(503, fresh)
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    const samples = await exporter.samples()
    expect(statesOf(samples)).toEqual({
      'team-501': 'stale',
      'team-502': 'missing',
      'team-503': 'good',
    })
    expect(samples).toMatchObject({
      'dashkeep_last_success_timestamp_seconds{account="team-501"}': old.getTime() / 1000,
      'dashkeep_last_success_timestamp_seconds{account="team-503"}': fresh.getTime() / 1000,
      'dashkeep_snapshot_objects{account="team-503"}': 9,
      'dashkeep_snapshot_suspect{account="team-503"}': 0,
      dashkeep_archive_readable: 1,
      dashkeep_archive_read_timestamp_seconds: Date.parse(start) / 1000,
      dashkeep_config_good: 1,
      'dashkeep_build_info{version="0.1.0"}': 1,
    })
    expect(Object.keys(samples).filter((name) => name.includes('team-502'))).toHaveLength(1)
  })

  it('reports how far each copy is behind, and which one cannot be read', async () => {
    const { trial, config, env, backUp } = await prepare()
    await using _trial = trial
    const copies = [
      { name: 'offsite', url: join(trial.folder, 'second') },
      { name: 'broken', url: await trial.write('a-file', 'no folder') },
    ]
    const DASHKEEP_CONFIG = await trial.write('copies.yaml', { ...config, copies })
    await backUp(501, old)
    await backUp(502, fresh)
    await using exporter = await startExporter({ env: { ...env, DASHKEEP_CONFIG }, start })
    await exporter.untilLogged('copies read')
    expect(await exporter.samples()).toMatchObject({
      'dashkeep_copy_missing_snapshots{copy="offsite"}': 2,
      'dashkeep_copy_readable{copy="offsite"}': 1,
      'dashkeep_copy_readable{copy="broken"}': 0,
    })
  })

  it('is ready with the metrics of the archive while a copy does not answer', async () => {
    await using server = await startServer(neverAnswer)
    const { trial, config, env, backUp } = await prepare()
    await using _trial = trial
    const copies = [{ name: 'dead', url: 's3://bucket/copy', ...server.store }]
    const DASHKEEP_CONFIG = await trial.write('copies.yaml', { ...config, copies })
    await backUp(501, fresh)
    const withKeys = { ...env, ...serverCredentials, DASHKEEP_CONFIG }
    await using exporter = await startExporter({ env: withKeys, start })
    await until('the copy is asked', () => server.requests.length > 0)
    expect((await exporter.ask('/readyz')).status).toBe(200)
    expect(await exporter.samples()).toMatchObject({ dashkeep_archive_readable: 1 })
  })

  it('reports when each account was last proven, what failed, and who was never proven', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    for (const id of ids) await backUp(id, fresh)
    const proven = new Date('2026-11-20T05:15:00Z')
    const record = (...args: string[]) =>
      trial.runAt(proven, [...args, '--record'], { DASHKEEP_STORE: env.DASHKEEP_STORE })
    await record('verify', '--account', '501')
    const damaged = [...(await trial.files()).keys()].filter((name) => name.startsWith('503/'))
    await rm(join(trial.archive, damaged.find((name) => name.endsWith('.zst')) ?? ''))
    await record('restore', '--drill', '--account', '503')
    await using exporter = await startExporter({ env, start, maxProofAgeMs: 8 * 24 * hours })
    await exporter.untilLogged('archive read')
    const samples = await exporter.samples()
    expect(statesOf(samples)).toEqual({
      'team-501': 'good',
      'team-502': 'unproven',
      'team-503': 'damaged',
    })
    const ofProofs = Object.entries(samples).filter(([name]) => name.includes('proof'))
    expect(Object.fromEntries(ofProofs)).toEqual({
      'dashkeep_last_proof_timestamp_seconds{account="team-501",kind="verify"}':
        proven.getTime() / 1000,
      'dashkeep_proof_failed{account="team-501",kind="verify"}': 0,
      'dashkeep_proof_failed{account="team-503",kind="drill"}': 1,
    })
  })

  it('reports a record that cannot be read like one of a failed check', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, fresh)
    const { DASHKEEP_STORE } = env
    await trial.runAt(new Date('2026-11-19T05:15:00Z'), ['verify', '--record'], { DASHKEEP_STORE })
    const name = '20261120T051500Z-00000000-verify.json'
    await writeFile(join(trial.archive, 'proofs', '501', name), '')
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    expect(await exporter.samples()).toMatchObject({
      'dashkeep_proof_failed{account="team-501",kind="verify"}': 1,
      'dashkeep_proof_failed{account="team-501",kind="drill"}': 1,
    })
  })

  it('reads a new proof within an hour, and at once when the configuration changes', async () => {
    const { trial, config, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, fresh)
    const record = () =>
      trial.runAt(fresh, ['verify', '--record'], { DASHKEEP_STORE: env.DASHKEEP_STORE })
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    const isProven = async () =>
      Object.keys(await exporter.samples()).some((name) => name.includes('last_proof'))
    await record()
    for (const read of [2, 3, 4, 5]) {
      expect(await isProven()).toBe(false)
      await exporter.clock.step(15 * minutes)
      await exporter.untilLogged('archive read', read)
    }
    expect(await isProven()).toBe(true)
    await rm(join(trial.archive, 'proofs'), { recursive: true })
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(0, 2) })
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('archive read', 6)
    expect(await isProven()).toBe(false)
  })

  it('ignores accounts that are not configured, and reports suspect ones', async () => {
    const { trial, config, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, old)
    await backUp(502, fresh)
    for (const type of types) trial.sandbox.setObjects(502, type, [])
    await backUp(502, new Date('2026-11-20T04:15:00Z'))
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(1, 2) })
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    const samples = await exporter.samples()
    expect(statesOf(samples)).toEqual({ 'team-502': 'suspect' })
    expect(samples['dashkeep_snapshot_suspect{account="team-502"}']).toBe(1)
    expect(samples['dashkeep_last_success_timestamp_seconds{account="team-502"}']).toBe(
      fresh.getTime() / 1000,
    )
  })

  it('reports no success of an account that is damaged and stale', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, old)
    const stored = [...(await trial.files()).keys()].filter((name) => name.endsWith('.zst'))
    for (const name of stored) await rm(join(trial.archive, name))
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    const samples = await exporter.samples()
    expect(statesOf(samples)).toMatchObject({ 'team-501': 'stale' })
    expect(Object.keys(samples).filter((name) => name.includes('success'))).toEqual([])
  })

  it('reads at once when the clock was set back', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    exporter.clock.set('2026-11-19T12:00:00Z')
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('archive read', 2)
  })

  it('reads again after the interval, not for a scrape', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    await backUp(501, fresh)
    for (const _ of [1, 2, 3]) {
      expect(statesOf(await exporter.samples())['team-501']).toBe('missing')
    }
    await exporter.clock.step(14 * minutes)
    expect(statesOf(await exporter.samples())['team-501']).toBe('missing')
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('archive read', 2)
    expect(statesOf(await exporter.samples())['team-501']).toBe('good')
    expect(exporter.log().filter(({ msg }) => msg === 'archive read')).toHaveLength(2)
  })

  it('keeps the last values and their time while the archive cannot be read', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, fresh)
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    await rename(trial.archive, `${trial.archive}-away`)
    await writeFile(trial.archive, 'not a folder')
    await exporter.clock.step(15 * minutes)
    await exporter.untilLogged('archive cannot be read')
    const samples = await exporter.samples()
    expect(samples.dashkeep_archive_readable).toBe(0)
    expect(samples.dashkeep_archive_read_timestamp_seconds).toBe(Date.parse(start) / 1000)
    expect(statesOf(samples)['team-501']).toBe('good')
    expect((await exporter.ask('/readyz')).status).toBe(200)

    await rename(trial.archive, `${trial.archive}-wrong`)
    await rename(`${trial.archive}-away`, trial.archive)
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('archive read', 2)
    expect((await exporter.samples()).dashkeep_archive_readable).toBe(1)
    expect(exporter.log().filter(({ level }) => level === 'error')).toHaveLength(1)
  })

  it('adopts a changed configuration within a minute, and ignores an invalid one', async () => {
    const { trial, config, env } = await prepare()
    await using _trial = trial
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    await trial.write('dashkeep.yaml', 'accounts: none')
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('configuration is invalid')
    expect((await exporter.samples()).dashkeep_config_good).toBe(0)
    expect(await exporter.ask('/readyz')).toEqual({
      status: 503,
      text: 'not ready: the configuration is invalid\n',
    })
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(0, 1) })
    await exporter.clock.step(1 * minutes)
    await exporter.untilLogged('archive read', 2)
    const samples = await exporter.samples()
    expect(samples.dashkeep_config_good).toBe(1)
    expect(statesOf(samples)).toEqual({ 'team-501': 'missing' })
  })

  it('writes nothing and sends no request to the service', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, fresh)
    const before = [...(await trial.files()).keys()]
    const asked = trial.sandbox.requests().length
    await using exporter = await startExporter({ env, start })
    await exporter.untilLogged('archive read')
    expect([...(await trial.files()).keys()]).toEqual(before)
    expect(trial.sandbox.requests()).toHaveLength(asked)
  })
})

describe('an exporter of a bucket', () => {
  it('needs only the rights to list it and to read manifests', async () => {
    const { trial, config, env, backUp } = await prepare()
    await using _trial = trial
    await using server = await startS3Server()
    const { accessKeyId, secretAccessKey } = server.credentials
    const inBucket = {
      ...env,
      DASHKEEP_STORE: `s3://${server.bucketName}/dashkeep`,
      AWS_ENDPOINT_URL_S3: server.url,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    }
    for (const id of ids) await backUp(id, fresh, inBucket)
    await trial.write('dashkeep.yaml', { ...config, accounts: config.accounts.slice(0, 1) })
    const asked = server.operations().length
    await using exporter = await startExporter({ env: inBucket, start })
    await exporter.untilLogged('archive read')
    expect(statesOf(await exporter.samples())).toEqual({ 'team-501': 'good' })
    expect(server.operations().slice(asked)).toEqual([
      'ListObjectsV2',
      'ListObjectsV2',
      'GetObject',
    ])
    const documented = await readFile(join(checkout, 'docs/monitoring.md'), 'utf8')
    expect(documented).toContain('"Action": ["s3:ListBucket", "s3:GetObject"]')
  })
})

describe('an exporter of a store that hangs', () => {
  it('is alive but not ready, gives up after 15 minutes, and stops at once', async () => {
    const { trial, env } = await prepare()
    await using _trial = trial
    await using server = await startSilentServer()
    await using exporter = await startExporter({ env: { ...env, ...server.env }, start })
    await server.untilAsked(1)
    expect((await exporter.ask('/healthz')).status).toBe(200)
    expect(await exporter.ask('/readyz')).toEqual({
      status: 503,
      text: 'not ready: the archive has not been read yet\n',
    })
    const before = await exporter.samples()
    expect(before.dashkeep_archive_readable).toBe(0)
    expect(before).not.toHaveProperty('dashkeep_archive_read_timestamp_seconds')
    await exporter.clock.step(15 * minutes)
    await exporter.untilLogged('archive cannot be read')
    const failures = exporter.log().filter(({ level }) => level === 'error')
    expect(failures).toMatchObject([
      { reason: 'Cannot read the archive: it takes longer than 15 minutes' },
    ])
    await exporter.clock.step(1 * minutes)
    await server.untilAsked(2)
    await exporter.stop()
  })
})

/** An S3 server that takes connections and never answers. */
async function startSilentServer() {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    env: {
      DASHKEEP_STORE: 's3://backups/dashkeep',
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'key',
      AWS_SECRET_ACCESS_KEY: 'secret',
    },
    untilAsked: (times: number) => until('the store is asked', () => sockets.length >= times),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('status --listen', () => {
  it('serves until SIGTERM, as a separate process', async () => {
    const { trial, env, backUp } = await prepare()
    await using _trial = trial
    await backUp(501, new Date())
    await using running = spawnDashkeep(
      ['status', '--listen', '127.0.0.1:0', '--max-age', '26h', '--interval', '10s'],
      { env: { ...process.env, ...env } },
    )
    await until('the archive is read', () => running.stderr().includes('"archive read"'))
    const [, url = ''] = /"url":"(.+?)"/.exec(running.stderr()) ?? []
    expect(statesOf(samplesOf(await (await fetch(`${url}/metrics`)).text()))['team-501']).toBe(
      'good',
    )
    running.kill('SIGTERM')
    const { exitCode, stdout } = await running.finished
    expect([exitCode, stdout]).toEqual([143, ''])
  })

  it.each([
    [['--listen', '5337'], 'Cannot listen on 5337: it is not host:port'],
    [['--listen', '127.0.0.1:70000'], 'Cannot listen on 127.0.0.1:70000: it is not host:port'],
    [['--listen', '127.0.0.1:0', '--interval', '1s'], 'it is not between 10s and 1d'],
    [['--listen', '127.0.0.1:0', '--json'], 'Cannot use --listen with --json'],
    [['--listen', '127.0.0.1:0', '--account', 'a'], 'Cannot use --listen with --account'],
    [['--interval', '1m'], 'Cannot use --interval: it needs --listen'],
  ])('refuses %s', async (args, problem) => {
    await using trial: Trial = await startTrial()
    const { exitCode, stderr } = await trial.run(['status', ...args])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(problem)])
  })

  it('refuses a configuration without accounts', async () => {
    await using trial = await startTrial()
    const env = { DASHKEEP_STORE: trial.env.DASHKEEP_STORE }
    const { exitCode, stderr } = await runDashkeep(['status', '--listen', '127.0.0.1:0'], { env })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('no configuration file names')])
  })
})
