import { hash } from 'node:crypto'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readProxies } from '../../../src/http/proxy.ts'
import { createS3Store } from '../../../src/store/s3/store.ts'
import { type HttpProxyOptions, startHttpProxy } from '../../http/http-proxy.ts'
import { ownAuthority, startTlsFront } from '../../http/tls-front.ts'
import { startS3Server } from '../../s3-server/s3-server.ts'

interface Options extends HttpProxyOptions {
  /** What the variables name; the proxy by default. */
  readonly address?: (port: number) => string
  readonly secure?: boolean
}

/** A store in a bucket whose host name only the proxy can resolve. */
async function startBehindProxy({
  address = (port) => `http://me:sesame@127.0.0.1:${port}`,
  secure = true,
  ...options
}: Options = {}) {
  const stack = new AsyncDisposableStack()
  const server = stack.use(await startS3Server())
  const front = stack.use(await startTlsFront(server.url))
  const proxy = stack.use(await startHttpProxy(options))
  const host = `s3.dashkeep.test:${secure ? front.port : new URL(server.url).port}`
  const variable = secure ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const store = createS3Store({
    bucket: server.bucketName,
    endpoint: `${secure ? 'https' : 'http'}://${host}`,
    credentials: server.credentials,
    retryDelayMs: 1,
    findProxy: readProxies({ [variable]: address(proxy.port) }, []),
  })
  stack.defer(() => store.close())
  return { server, proxy, host, store, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

let authorities: string[]
beforeEach(() => {
  authorities = getCACertificates()
  setDefaultCACertificates([...authorities, ownAuthority])
})
afterEach(() => setDefaultCACertificates(authorities))

describe('a bucket behind a proxy', () => {
  it('is read and written through one tunnel', async () => {
    await using scene = await startBehindProxy({ credentials: 'me:sesame' })
    await scene.store.put('a', Buffer.from('x'))
    expect(Buffer.from((await scene.store.get('a', { maxBytes: 9 })) ?? []).toString()).toBe('x')
    expect(scene.proxy.requests).toEqual([`CONNECT ${scene.host}`])
  })

  it('is read and written without TLS', async () => {
    await using scene = await startBehindProxy({ credentials: 'me:sesame', secure: false })
    await scene.store.put('a', Buffer.from('x'))
    expect(Buffer.from((await scene.store.get('a', { maxBytes: 9 })) ?? []).toString()).toBe('x')
    expect(scene.proxy.requests[0]).toMatch(`PUT http://${scene.host}/backups/a`)
  })

  it.each<[string, Options, RegExp]>([
    [
      'another password',
      { credentials: 'me:other' },
      /requires another user or password .*status 407/,
    ],
    [
      'another password without TLS',
      { credentials: 'me:other', secure: false },
      /requires another user or password .*status 407/,
    ],
    [
      'a refused host',
      { answer: 403 },
      /refuses to connect to s3\.dashkeep\.test:\d+ \(status 403\)/,
    ],
    [
      'a host that is not reached',
      { answer: 502 },
      /cannot connect to s3\.dashkeep\.test:\d+ \(status 502\)/,
    ],
    ['a closed connection', { answer: 'hang up' }, /closed the connection \(\w+\)/],
    [
      'no proxy',
      { address: () => 'http://me:sesame@127.0.0.1:9' },
      /cannot be reached \(ECONNREFUSED\)/,
    ],
    [
      'no proxy, without TLS',
      { address: () => 'http://me:sesame@127.0.0.1:9', secure: false },
      /cannot be reached \(ECONNREFUSED\)/,
    ],
    [
      'an unknown proxy',
      { address: () => 'http://me:sesame@no-such-proxy.invalid' },
      /has a host name that cannot be resolved/,
    ],
  ])('says what is wrong with the proxy: %s', async (_what, options, state) => {
    await using scene = await startBehindProxy(options)
    const error = await scene.store.get('a', { maxBytes: 9 }).then(
      () => undefined,
      (reason: Error & { hint: string }) => reason,
    )
    expect(error?.message).toMatch(
      /^Cannot read s3:\/\/backups\/a: the proxy [\w.-]+:\d+ \(HTTPS?_PROXY\) /,
    )
    expect(error?.message).toMatch(state)
    expect(error?.hint).toMatch(/PROXY/)
    expect(`${error?.stack} ${(error?.cause as Error)?.stack}`).not.toContain('sesame')
    expect(scene.server.requests).toEqual([])
  })
})

describe('credentials of AWS', () => {
  afterEach(() => vi.unstubAllEnvs())

  /** Where the proxy is asked to connect to when a bucket is read with a profile or role. */
  async function targetsWith(env: Record<string, string>): Promise<string[]> {
    await using proxy = await startHttpProxy({ answer: 403 })
    await using folder = await mkdtempDisposable(join(tmpdir(), 'dashkeep-aws-'))
    const write = async (name: string, text: string) => {
      await mkdir(dirname(join(folder.path, name)), { recursive: true })
      await writeFile(join(folder.path, name), text)
    }
    await write('token', 'a token')
    await write('config', profile)
    await write(`.aws/sso/cache/${sha1('https://sso.example.com')}.json`, ssoToken)
    const files = { HOME: folder.path, AWS_CONFIG_FILE: join(folder.path, 'config') }
    const none = { AWS_SHARED_CREDENTIALS_FILE: '/dev/null', AWS_EC2_METADATA_DISABLED: 'true' }
    const variables = Object.entries({ ...files, ...none, ...env }).map(
      ([name, value]) => [name, value.replace('FOLDER', folder.path)] as const,
    )
    // The SDK reads some of them itself.
    for (const [name, value] of variables) vi.stubEnv(name, value)
    const store = createS3Store({
      bucket: 'backups',
      region: 'eu-west-1',
      retryDelayMs: 1,
      env: Object.fromEntries(variables),
      findProxy: readProxies({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, []),
    })
    await expect(store.get('a', { maxBytes: 9 })).rejects.toThrow()
    await store.close()
    return [...new Set(proxy.requests)]
  }

  const sha1 = (text: string) => hash('sha1', text)
  const ssoToken = JSON.stringify({ accessToken: 'x', expiresAt: '9999-01-01T00:00:00Z' })
  const profile = `[profile sso]
sso_start_url = https://sso.example.com
sso_region = eu-west-1
sso_account_id = 123456789012
sso_role_name = backup
`

  it('of a web identity are fetched through the proxy', async () => {
    const env = {
      AWS_WEB_IDENTITY_TOKEN_FILE: 'FOLDER/token',
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/backup',
      AWS_REGION: 'eu-west-1',
    }
    expect(await targetsWith(env)).toEqual(['CONNECT sts.eu-west-1.amazonaws.com:443'])
  })

  it('of an SSO session are fetched through the proxy', async () => {
    const targets = await targetsWith({ AWS_PROFILE: 'sso' })
    expect(targets).toEqual(['CONNECT portal.sso.eu-west-1.amazonaws.com:443'])
  })
})
