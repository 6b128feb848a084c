import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type HttpProxyOptions, startHttpProxy } from '../http/http-proxy.ts'
import { ownAuthority, ownAuthorityFile } from '../http/tls-front.ts'
import { type ProxyTrial, startProxyTrial } from './proxy-trial.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { startTrial } from './trial.ts'

const secret = 'open-sesame'

let authorities: string[]
beforeEach(() => {
  authorities = getCACertificates()
  setDefaultCACertificates([...authorities, ownAuthority])
})
afterEach(() => {
  setDefaultCACertificates(authorities)
  vi.unstubAllEnvs()
})

/** A trial behind a proxy that wants a password, and the environment that says so. */
async function startBehindProxy(options: HttpProxyOptions = {}) {
  const stack = new AsyncDisposableStack()
  const started: ProxyTrial = stack.use(await startProxyTrial())
  const proxy = stack.use(await startHttpProxy({ credentials: `me:${secret}`, ...options }))
  const env = { ...started.env, HTTPS_PROXY: `http://me:${secret}@127.0.0.1:${proxy.port}` }
  const name = `127.0.0.1:${proxy.port} (HTTPS_PROXY)`
  return { ...started, env, proxy, name, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function targets({ requests }: { requests: readonly string[] }): string[] {
  return [...new Set(requests)].toSorted()
}

describe('behind a proxy', () => {
  it('a backup reaches service, bucket, ping and Pushgateway, and doctor names the proxy', async () => {
    await using started = await startBehindProxy()
    const { trial, env, proxy, hosts, server, notifications, name } = started
    const backup = await trial.run(['backup', '--log-level', 'debug'], env)
    expect(backup.exitCode).toBe(0)
    expect([...server.bucket.objects.keys()].some((key) => key.endsWith('manifest.json'))).toBe(
      true,
    )
    expect(notifications.map(({ path }) => path)).toEqual([
      '/ping/start',
      expect.stringMatching(/^\/p(ing|ush\/)/),
      expect.stringMatching(/^\/p(ing|ush\/)/),
    ])
    const all = Object.values(hosts).map((host) => `CONNECT ${host}`)
    expect(targets(proxy)).toEqual(all.toSorted())

    const doctor = await trial.run(['doctor'], env)
    expect(doctor.exitCode).toBe(0)
    expect(doctor.stdout).toContain(`proxy (default): the proxy ${name}\n`)
    expect(doctor.stdout).toContain(`store proxy: the proxy ${name}\n`)
    const print = await trial.run(['config', 'print'], env)
    expect(print.exitCode).toBe(0)
    for (const { stdout, stderr } of [backup, doctor, print]) {
      expect(stdout + stderr).not.toContain(secret)
    }
  })

  it('NO_PROXY and loopback addresses are reached directly', async () => {
    await using started = await startBehindProxy()
    const { trial, env, proxy, server } = started
    const loopback = { DASHKEEP_BASE_URL: trial.sandbox.url, AWS_ENDPOINT_URL_S3: server.url }
    const silent = { DASHKEEP_PING_URL: undefined, DASHKEEP_PUSHGATEWAY: undefined }
    const { exitCode } = await trial.run(['backup'], { ...env, ...silent, ...loopback })
    expect(exitCode).toBe(0)
    const doctor = await trial.run(['doctor'], {
      ...env,
      AWS_ENDPOINT_URL_S3: server.url,
      NO_PROXY: '.dashkeep.test',
    })
    expect(doctor.stdout).toContain('the host of https://service.dashkeep.test')
    expect(proxy.requests).toEqual([])
  })

  it.each<[string, HttpProxyOptions, RegExp]>([
    [
      'refuses the password',
      { credentials: 'me:other' },
      /requires another user or password \(status 407\)/,
    ],
    [
      'refuses the host',
      { answer: 403 },
      /refuses to connect to \w+\.dashkeep\.test:\d+ \(status 403\)/,
    ],
  ])('that %s, doctor says so of service and bucket', async (_what, options, state) => {
    await using started = await startBehindProxy(options)
    const { trial, env, name } = started
    const { exitCode, stdout, stderr } = await trial.run(['doctor', '--json'], env)
    expect(exitCode).toBe(1)
    const { findings } = JSON.parse(stdout) as { findings: Record<string, string>[] }
    for (const check of ['account default', 'store write']) {
      const finding = findings.find((one) => one.check === check)
      expect(finding?.detail).toMatch(state)
      expect(finding?.detail).toContain(`the proxy ${name}`)
      expect(finding?.hint).toMatch(/HTTPS_PROXY|NO_PROXY/)
    }
    expect(stdout + stderr).not.toContain(secret)
  })

  it('a proxy that cannot be used is a problem of the configuration', async () => {
    await using trial = await startTrial()
    const HTTPS_PROXY = `socks5://me:${secret}@proxy:1080`
    const { exitCode, stderr } = await trial.run(['config', 'check'], { HTTPS_PROXY })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('HTTPS_PROXY: expected the http:// or https:// address of a proxy')
    expect(stderr).not.toContain(secret)
  })
})

describe('authorities of one’s own', () => {
  it('come from AWS_CA_BUNDLE for the bucket', async () => {
    await using started = await startBehindProxy()
    setDefaultCACertificates(authorities)
    const { trial, env } = started
    const untrusted = await trial.run(['list'], env)
    expect(untrusted.exitCode).toBe(2)
    expect(untrusted.stderr).toContain('the certificate of the endpoint is not trusted')
    expect(untrusted.stderr).toContain('AWS_CA_BUNDLE')
    const trusted = await trial.run(['list'], { ...env, AWS_CA_BUNDLE: ownAuthorityFile })
    expect(trusted).toMatchObject({ exitCode: 0, stderr: '' })
  })

  it.each([
    ['/no/such/file.pem', 'the file cannot be read (ENOENT)'],
    [import.meta.filename, 'it contains no certificate'],
  ])('a bundle that is none is named: %s', async (file, state) => {
    await using started = await startBehindProxy()
    const { trial, env } = started
    const { exitCode, stderr } = await trial.run(['list'], { ...env, AWS_CA_BUNDLE: file })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`Cannot use the certificates in ${file}: ${state}`)
    const inFolder = { DASHKEEP_STORE: trial.env.DASHKEEP_STORE, AWS_CA_BUNDLE: file }
    expect((await trial.run(['list'], inFolder)).exitCode).toBe(0)
  })

  it('come from NODE_EXTRA_CA_CERTS for everything', async () => {
    await using started = await startBehindProxy()
    const { env, notifications } = started
    await using backup = spawnDashkeep(['backup'], {
      env: { ...env, NODE_EXTRA_CA_CERTS: ownAuthorityFile },
    })
    expect(await backup.finished).toMatchObject({ exitCode: 0 })
    expect(notifications).toHaveLength(3)
  })
})
