import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ownAuthorityFile } from '../http/tls-front.ts'
import { leaveOut } from '../left-out.ts'
import { startProxyTrial } from './proxy-trial.ts'
import { until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'

/** Runs a program that sees other host names than the rest of this machine. */
const withHosts = ['--map-root-user', '--mount', 'sh', '-c']
const isThere =
  spawnSync('tinyproxy', ['-v']).status === 0 &&
  spawnSync('unshare', [...withHosts, 'mount --bind /etc/hosts /etc/hosts']).status === 0
if (!isThere) leaveOut('a real proxy', 'by installing tinyproxy (Linux with namespaces)')

const secret = 'open-sesame'

/** Starts tinyproxy, to which all host names of a trial are this machine. */
async function startTinyproxy({ deny = [] }: { deny?: readonly string[] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-tinyproxy-'))
  const port = await findFreePort()
  const names = ['service', 'storage', 'hooks'].map((name) => `${name}.dashkeep.test`)
  await writeFile(join(folder, 'hosts'), `127.0.0.1 localhost ${names.join(' ')}\n`)
  await writeFile(join(folder, 'denied'), deny.map((host) => `^${host}$\n`).join(''))
  const settings = [
    `Port ${port}`,
    'Listen 127.0.0.1',
    'Timeout 30',
    'MaxClients 50',
    `BasicAuth me ${secret}`,
    `LogFile "${join(folder, 'log')}"`,
    'LogLevel Info',
    ...(deny.length > 0 ? [`Filter "${join(folder, 'denied')}"`, 'FilterExtended On'] : []),
  ]
  await writeFile(join(folder, 'settings'), settings.join('\n'))
  const start = `mount --bind '${folder}/hosts' /etc/hosts && exec tinyproxy -d -c '${folder}/settings'`
  const child = spawn('unshare', [...withHosts, start], { stdio: 'ignore' })
  await until('tinyproxy listens', () => accepts(port))
  return {
    address: `http://me:${secret}@127.0.0.1:${port}`,
    name: `127.0.0.1:${port} (HTTPS_PROXY)`,
    log: () => readFile(join(folder, 'log'), 'utf8'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
      await rm(folder, { recursive: true })
    },
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return accepted
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.skipIf(!isThere)('behind a real proxy', () => {
  it('a backup and its ping arrive over TLS, and doctor names the proxy', async () => {
    await using proxy = await startTinyproxy()
    await using started = await startProxyTrial()
    const { hosts, notifications, server } = started
    const env = {
      ...started.env,
      HTTPS_PROXY: proxy.address,
      NODE_EXTRA_CA_CERTS: ownAuthorityFile,
    }
    await using backup = spawnDashkeep(['backup', '--log-level', 'debug'], { env })
    const { exitCode, stdout, stderr } = await backup.finished
    expect(stderr).not.toContain('"level":"error"')
    expect(exitCode).toBe(0)
    expect(notifications).toHaveLength(3)
    expect([...server.bucket.objects.keys()].join()).toContain('manifest.json')
    await using doctor = spawnDashkeep(['doctor'], { env })
    const examined = await doctor.finished
    expect(examined.exitCode).toBe(0)
    expect(examined.stdout).toContain(`proxy (default): the proxy ${proxy.name}\n`)
    expect(examined.stdout).toContain(`store proxy: the proxy ${proxy.name}\n`)
    const log = await proxy.log()
    for (const host of Object.values(hosts)) expect(log).toContain(`CONNECT ${host} HTTP/1.1`)
    expect(stdout + stderr + examined.stdout + examined.stderr).not.toContain(secret)
  })

  it('a backup arrives without TLS', async () => {
    await using proxy = await startTinyproxy()
    await using started = await startProxyTrial()
    const portOf = (url: string) => new URL(url).port
    const { exitCode, stderr } = await started.trial.run(['backup'], {
      ...started.env,
      DASHKEEP_BASE_URL: `http://service.dashkeep.test:${portOf(started.trial.sandbox.url)}`,
      AWS_ENDPOINT_URL_S3: `http://storage.dashkeep.test:${portOf(started.server.url)}`,
      DASHKEEP_PING_URL: undefined,
      DASHKEEP_PUSHGATEWAY: undefined,
      HTTP_PROXY: proxy.address,
    })
    expect(stderr).not.toContain('"level":"error"')
    expect(exitCode).toBe(0)
    expect(await proxy.log()).toMatch(/POST http:\/\/service\.dashkeep\.test:\d+\/kibana\/export/)
  })

  it.each<[string, (address: string) => string, readonly string[], string]>([
    [
      'another password',
      (address) => address.replace(secret, 'other'),
      [],
      'requires another user or password',
    ],
    [
      'no password',
      (address) => address.replace(`me:${secret}@`, ''),
      [],
      'requires another user or password',
    ],
    [
      'a denied host',
      (address) => address,
      ['service.dashkeep.test', 'storage.dashkeep.test'],
      'refuses to connect to',
    ],
  ])('doctor says what the proxy refuses: %s', async (_what, addressFor, deny, state) => {
    await using proxy = await startTinyproxy({ deny })
    await using started = await startProxyTrial()
    const env = { ...started.env, HTTPS_PROXY: addressFor(proxy.address) }
    const { exitCode, stdout } = await started.trial.run(['doctor'], env)
    expect(exitCode).toBe(1)
    for (const check of ['account default', 'store write']) {
      expect(stdout).toMatch(new RegExp(`^failed +${check}: Cannot .*: the proxy .* ${state}`, 'm'))
    }
  })
})
