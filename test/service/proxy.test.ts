import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readProxies } from '../../src/http/proxy.ts'
import type { ServiceLimits } from '../../src/service/client.ts'
import { type HttpProxyOptions, startHttpProxy } from '../http/http-proxy.ts'
import { ownAuthority, startTlsFront } from '../http/tls-front.ts'
import { collect, everythingIn, quickClient, serviceErrorOf } from './fixtures.ts'
import {
  account,
  json,
  type Scene,
  silence,
  smallExport,
  startScriptedServer,
} from './scripted-server.ts'

const newAccount = { email: 'admin@example.com', accountName: 'Team B', retentionDays: 3 }

interface Options extends HttpProxyOptions {
  readonly scenes?: readonly Scene[]
  /** What the variables name; the proxy without credentials by default. */
  readonly address?: (port: number) => string
  readonly secure?: boolean
  readonly limits?: Partial<ServiceLimits>
}

/** A service whose host name only the proxy can resolve, and a client of it. */
async function startBehindProxy({
  scenes = [json(account)],
  address = (port) => `http://127.0.0.1:${port}`,
  secure = true,
  limits,
  ...options
}: Options = {}) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startScriptedServer(scenes))
  const front = stack.use(await startTlsFront(server.url))
  const proxy = stack.use(await startHttpProxy(options))
  const host = `service.dashkeep.test:${secure ? front.port : server.port}`
  const baseUrl = `${secure ? 'https' : 'http'}://${host}`
  const variable = secure ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const findProxy = readProxies({ [variable]: address(proxy.port) }, [])
  const client = stack.use(
    quickClient(baseUrl, { proxy: findProxy(new URL(baseUrl)), ...(limits && { limits }) }),
  )
  const subject = `the proxy 127.0.0.1:${proxy.port} (${variable})`
  return { server, proxy, host, client, subject, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

let authorities: string[]
beforeEach(() => {
  authorities = getCACertificates()
  setDefaultCACertificates([...authorities, ownAuthority])
})
afterEach(() => setDefaultCACertificates(authorities))

describe('through a proxy', () => {
  it('makes one tunnel for requests one after another', async () => {
    await using scene = await startBehindProxy({ scenes: [json(account), json(smallExport)] })
    const { client, proxy, host } = scene
    expect(await client.whoami()).toEqual(account)
    expect(JSON.parse(await collect(await client.exportObjects('search')))).toEqual(smallExport)
    expect(proxy.requests).toEqual([`CONNECT ${host}`])
  })

  it('opens no more tunnels than it may', async () => {
    await using scene = await startBehindProxy({ limits: { concurrency: 2 } })
    await Promise.all(Array.from({ length: 6 }, () => scene.client.whoami()))
    expect(scene.proxy.requests).toHaveLength(2)
  })

  it('sends requests without TLS to the proxy, in full', async () => {
    await using scene = await startBehindProxy({ secure: false })
    expect(await scene.client.whoami()).toEqual(account)
    expect(scene.proxy.requests).toEqual([`GET http://${scene.host}/v2/whoami`])
    expect(scene.server.requests[0]?.headers.host).toBe(scene.host)
  })

  it('uses TLS with a proxy whose address begins with https://', async () => {
    const address = (port: number) => `https://localhost:${port}`
    await using scene = await startBehindProxy({ tls: ownAuthority, address })
    expect(await scene.client.whoami()).toEqual(account)
    expect(scene.proxy.requests).toEqual([`CONNECT ${scene.host}`])
  })

  it.each([true, false])(
    'gives the proxy user and password, and nobody else, TLS: %s',
    async (secure) => {
      const address = (port: number) => `http://me:open%20sesame@127.0.0.1:${port}`
      await using scene = await startBehindProxy({ credentials: 'me:open sesame', address, secure })
      expect(await scene.client.whoami()).toEqual(account)
      if (secure) expect(scene.server.requests[0]?.headers['proxy-authorization']).toBeUndefined()
    },
  )
})

describe('a proxy that does not connect', () => {
  it.each<[string, boolean, Options]>([
    ['wants another password', true, { credentials: 'me:other' }],
    ['wants another password', false, { credentials: 'me:other' }],
  ])('%s: says so without the password, TLS: %s', async (_what, secure, options) => {
    const address = (port: number) => `http://me:sesame@127.0.0.1:${port}`
    await using scene = await startBehindProxy({ ...options, address, secure })
    const error = await serviceErrorOf(scene.client.whoami())
    expect(error).toMatchObject({ code: 'network', transient: false, attempt: 1 })
    expect(error.message).toBe(
      `Cannot find the account of the token: ${scene.subject} requires another user or password (status 407)`,
    )
    expect(error.hint).toContain('http://user:password@')
    expect(everythingIn(error)).not.toContain('sesame')
    expect(scene.server.requests).toEqual([])
  })

  it.each<[number, boolean, RegExp]>([
    [403, false, /refuses to connect to service\.dashkeep\.test:\d+ \(status 403\)$/],
    [405, false, /refuses to connect to service\.dashkeep\.test:\d+ \(status 405\)$/],
    [502, true, /cannot connect to service\.dashkeep\.test:\d+ \(status 502\)$/],
    [504, true, /cannot connect to service\.dashkeep\.test:\d+ \(status 504\)$/],
  ])('answers %s', async (answer, transient, message) => {
    await using scene = await startBehindProxy({ answer, limits: { attempts: 2 } })
    const error = await serviceErrorOf(scene.client.whoami())
    expect(error).toMatchObject({ code: 'network', transient, attempt: transient ? 2 : 1 })
    expect(error.message).toMatch(message)
    expect(error.message).toContain(scene.subject)
    expect(error.hint).toContain('NO_PROXY')
  })

  it.each<[string, Options, RegExp]>([
    ['is silent', { answer: 'hang' }, /did not answer in time \(\w*TIMEOUT\)$/],
    ['hangs up', { answer: 'hang up' }, /closed the connection \(SOCKET\)$/],
    [
      'cannot be resolved',
      { address: () => 'http://no-such-proxy.invalid:3128' },
      /resolved \(\w+\)$/,
    ],
    [
      'is not there',
      { address: () => 'http://127.0.0.1:9' },
      /cannot be reached \(ECONNREFUSED\)$/,
    ],
    [
      'has no TLS',
      { address: (port) => `https://localhost:${port}` },
      /cannot be reached securely \(\w+\)$/,
    ],
  ])('%s', async (_what, options, message) => {
    await using scene = await startBehindProxy({
      ...options,
      limits: { attempts: 1, connectTimeoutMs: 100, headersTimeoutMs: 60_000 },
    })
    const error = await serviceErrorOf(scene.client.whoami())
    expect(error.message).toMatch(/: the proxy [\w.-]+:\d+ \(HTTPS_PROXY\) /)
    expect(error.message).toMatch(message)
    expect(error.hint).toContain('check HTTPS_PROXY')
  })

  it('is not there: a request without TLS says the same', async () => {
    await using scene = await startBehindProxy({
      secure: false,
      address: () => 'http://127.0.0.1:9',
    })
    const error = await serviceErrorOf(scene.client.whoami())
    expect(error.message).toContain(
      'the proxy 127.0.0.1:9 (HTTP_PROXY) cannot be reached (ECONNREFUSED)',
    )
  })

  it('has sent nothing on, so that a create is repeated', async () => {
    await using scene = await startBehindProxy({ answer: 502, limits: { attempts: 3 } })
    const error = await serviceErrorOf(scene.client.createSubAccount(newAccount))
    expect(error).toMatchObject({ transient: true, attempt: 3 })
    expect(scene.proxy.requests).toHaveLength(3)
  })
})

describe('behind a tunnel', () => {
  it('a create that was sent and not answered is not repeated', async () => {
    await using scene = await startBehindProxy({ scenes: [silence] })
    const error = await serviceErrorOf(scene.client.createSubAccount(newAccount))
    expect(error).toMatchObject({ code: 'timeout', transient: false })
    expect(scene.server.requests).toHaveLength(1)
  })

  it('an unknown authority is the service’s, not the proxy’s', async () => {
    setDefaultCACertificates(authorities)
    await using scene = await startBehindProxy()
    const error = await serviceErrorOf(scene.client.whoami())
    expect(error).toMatchObject({ code: 'network', transient: false })
    expect(error.message).toContain(`a secure connection to https://${scene.host}`)
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS')
  })

  it.each([silence, json(account)])('ends with the client', async (scene) => {
    await using started = await startBehindProxy({
      scenes: [scene],
      limits: { headersTimeoutMs: 60_000 },
    })
    const asking = started.client.whoami().catch(() => {})
    await expect.poll(() => started.server.requests.length).toBe(1)
    await started.client.close()
    await asking
    await expect.poll(() => started.server.openConnections()).toBe(0)
  })
})
