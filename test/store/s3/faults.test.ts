import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { StoreError } from '../../../src/store/errors.ts'
import type { ObjectStore } from '../../../src/store/object-store.ts'
import type { StoreRetry } from '../../../src/store/retrying.ts'
import type { S3StoreOptions } from '../../../src/store/s3/options.ts'
import { createS3Store } from '../../../src/store/s3/store.ts'
import { collect } from '../../contract/collect.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../../s3-server/s3-server.ts'

const attempts = 5
const part = 8 * 1024 * 1024

const cleanups: AsyncDisposable[] = []
afterEach(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  for (const resource of cleanups.splice(0)) await resource[Symbol.asyncDispose]()
})

/** A server and a store on it that loses no time. */
async function setUp(
  options: Partial<S3StoreOptions> = {},
  serverOptions: S3ServerOptions = {},
): Promise<{ server: S3Server; store: ObjectStore }> {
  const server = await startS3Server(serverOptions)
  const store = createS3Store({
    endpoint: server.url,
    bucket: server.bucketName,
    credentials: server.credentials,
    requestTimeoutMs: 2_000,
    idleTimeoutMs: 200,
    retryDelayMs: 1,
    ...options,
  })
  cleanups.push({ [Symbol.asyncDispose]: () => store.close() }, server)
  return { server, store }
}

async function failureOf(action: Promise<unknown>): Promise<StoreError> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof StoreError)) throw new Error(`No StoreError: ${inspect(error)}`)
  return error
}

/** A server that takes requests and never answers. */
async function startHanging(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function readAll(store: ObjectStore, key: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync((await store.open(key)) ?? []))
}

const small = Buffer.from('small')
const large = Buffer.alloc(2 * part + 5, 'large')

describe('a refusal', () => {
  const more = '<Region>eu-central-1</Region>'
  for (const [status, code, kind, state, hint] of [
    [404, 'NoSuchBucket', 'usage', 'the bucket backups does not exist', 'create the bucket'],
    [403, 'AccessDenied', 'usage', 'access denied', 'allow these credentials'],
    [403, 'InvalidAccessKeyId', 'usage', 'does not know the access key', 'AWS_ACCESS_KEY_ID'],
    [403, 'SignatureDoesNotMatch', 'usage', 'the secret key does not', 'AWS_SECRET_ACCESS_KEY'],
    [400, 'ExpiredToken', 'usage', 'session credentials have expired', 'AWS_SESSION_TOKEN'],
    [301, 'PermanentRedirect', 'usage', 'another region', 'set AWS_REGION to eu-central-1'],
    [400, 'AuthorizationHeaderMalformed', 'usage', 'another region', 'AWS_REGION to eu-central-1'],
    [403, 'RequestTimeTooSkewed', 'failed', 'the clocks of this machine', 'set the clock'],
    [403, 'QuotaExceeded', 'failed', 'the quota is used up', 'raise the quota of bucket backups'],
    [507, 'InsufficientStorage', 'failed', 'the storage is full', 'raise the quota'],
    [501, 'NotImplemented', 'usage', 'does not support', 'use another server'],
    [400, 'InvalidRequest', 'usage', 'refuses the request', 'dashkeep doctor'],
    [400, 'BadDigest', 'failed', 'the bytes were changed in transit', 'memory of this machine'],
    [413, 'EntityTooLarge', 'failed', 'object is too large for the server', 'raise the limit'],
    [418, 'Teapot', 'failed', 'the server answered 418 Teapot', 'the log of the server'],
  ] as const) {
    it(`${code} is explained and not repeated`, async () => {
      const { server, store } = await setUp()
      server.inject({ operation: 'PutObject', kind: 'error', status, code, more })
      const error = await failureOf(store.put('a/b', small))
      expect(error.message).toMatch(/^Cannot write s3:\/\/backups\/a\/b: [^\n]*[^.]$/)
      expect(error.message).toContain(state)
      expect(error.hint).toContain(hint)
      expect(error.hint).not.toMatch(/\btags?\b|\block\b|proxy/i)
      expect(error).toMatchObject({ kind, transient: false })
      expect(server.operations()).toEqual(['PutObject'])
    })
  }

  it.each([
    [{ tagging: true }, 'remove store.tags from'],
    [{ encryption: { mode: 'sse-s3' } }, 'remove store.encryption from'],
    [
      { tagging: true, lock: { mode: 'governance', durationMs: 1000 } },
      'remove store.tags or store.lock from',
    ],
  ] as const)('of what is not supported names what is configured: %j', async (options, hint) => {
    const { server, store } = await setUp(options)
    server.inject({ operation: 'PutObject', kind: 'error', status: 501, code: 'NotImplemented' })
    expect((await failureOf(store.put('a', small))).hint).toContain(hint)
  })

  it('names the action in every operation', async () => {
    const { server, store } = await setUp()
    const denied = { kind: 'error', status: 403, code: 'AccessDenied' } as const
    for (const operation of ['GetObject', 'DeleteObject', 'ListObjectsV2'] as const) {
      server.inject({ operation, ...denied, times: 2 })
    }
    const message = async (action: Promise<unknown>) => (await failureOf(action)).message
    expect(await message(store.get('a', { maxBytes: 1 }))).toMatch(
      /^Cannot read s3:\/\/backups\/a:/,
    )
    expect(await message(store.open('a'))).toMatch(/^Cannot read s3:\/\/backups\/a:/)
    expect(await message(store.remove('a'))).toMatch(/^Cannot remove s3:\/\/backups\/a:/)
    expect(await message(collect(store.list('')))).toMatch(/^Cannot list s3:\/\/backups:/)
  })

  it('contains nothing of the request or the keys', async () => {
    const { server, store } = await setUp()
    const more =
      '<StringToSign>session-token</StringToSign><AWSAccessKeyId>test-access</AWSAccessKeyId>'
    server.inject({
      operation: 'PutObject',
      kind: 'error',
      status: 403,
      code: 'SignatureDoesNotMatch',
      more,
    })
    const shown = inspect(await failureOf(store.put('a', small)), { depth: 10, showHidden: true })
    expect(shown).toContain('SignatureDoesNotMatch (status 403)')
    expect(shown).not.toMatch(/session-token|test-access|test-secret/)
  })
})

describe('a wrong address', () => {
  it('is reported when the access key is unknown', async () => {
    const credentials = { accessKeyId: 'other', secretAccessKey: 'secret' }
    const { store } = await setUp({ credentials })
    expect((await failureOf(store.put('a', small))).message).toContain('does not know the access')
  })

  it('is reported when nothing listens', async () => {
    const { server, store } = await setUp()
    await server[Symbol.asyncDispose]()
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('the connection failed (ECONNREFUSED)')
    expect(error.transient).toBe(true)
  })

  it('is reported when the host is unknown', async () => {
    const { store } = await setUp({ endpoint: 'http://no-such-host.invalid' })
    expect((await failureOf(store.put('a', small))).message).toContain('host name')
  })

  it('is reported when it is https for a server that uses http', async () => {
    const { server } = await setUp()
    const { store } = await setUp({ endpoint: server.url.replace('http:', 'https:') })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('uses another protocol than its address')
    expect(error.kind).toBe('usage')
  })

  for (const status of [200, 404]) {
    it(`is reported when a web page answers with status ${status}`, async () => {
      const { server, store } = await setUp()
      const page = '<!doctype html><html><head><title>Welcome</title></head><br></html>'
      const fault = { kind: 'answer', status, body: page } as const
      server.inject({ operation: 'PutObject', ...fault })
      server.inject({ operation: 'ListObjectsV2', ...fault })
      server.inject({ operation: 'CreateMultipartUpload', ...fault })
      const actions = [
        () => store.put('a', small),
        () => store.put('a', large),
        () => collect(store.list('')),
      ]
      for (const act of actions) {
        const error = await failureOf(act())
        expect(error.message).toContain('the answer does not come from an S3 server')
        expect(error.kind).toBe('usage')
      }
    })
  }

  it('is reported when no credentials are found', async () => {
    vi.stubEnv('AWS_CONFIG_FILE', '/nowhere')
    vi.stubEnv('AWS_PROFILE', undefined)
    const env = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
      AWS_CONFIG_FILE: '/nowhere',
    }
    const server = await startS3Server()
    cleanups.push(server)
    const store = createS3Store({ endpoint: server.url, bucket: 'backups', env })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toBe('Cannot write s3://backups/a: no credentials were found')
    expect(error.kind).toBe('usage')
    vi.stubEnv('AWS_REGION', undefined)
    const awsStore = createS3Store({ bucket: 'backups', env })
    expect((await failureOf(awsStore.put('a', small))).message).toContain('no region is set')
  })
})

describe('a transient failure', () => {
  for (const [status, code] of [
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [502, 'BadGateway'],
    [429, 'TooManyRequests'],
    [400, 'RequestTimeout'],
  ] as const) {
    it(`is retried until it ends: ${status} ${code}`, async () => {
      const { server, store } = await setUp()
      server.inject({ operation: 'PutObject', kind: 'error', status, code, times: attempts - 1 })
      await store.put('a', small)
      expect(server.operations()).toHaveLength(attempts)
      expect(server.bucket.objects.get('a')?.body).toEqual(small)
    })
  }

  it('ends in an error after the last attempt', async () => {
    const { server, store } = await setUp()
    server.inject({
      operation: 'GetObject',
      kind: 'error',
      status: 503,
      code: 'SlowDown',
      times: 9,
    })
    const error = await failureOf(store.get('a', { maxBytes: 1 }))
    expect(error).toMatchObject({
      message: 'Cannot read s3://backups/a: the server asks to slow down',
      kind: 'failed',
      transient: true,
    })
    expect(server.operations()).toHaveLength(attempts)
  })

  it('ends at once when the signal aborts', async () => {
    const controller = new AbortController()
    const onRetry = () => setImmediate(() => controller.abort(new Error('the reason')))
    const { server, store } = await setUp({ retryDelayMs: 60_000, onRetry })
    server.inject({ operation: 'GetObject', kind: 'error', status: 503, code: 'SlowDown' })
    const reading = store.get('a', { maxBytes: 1, signal: controller.signal })
    await expect(reading).rejects.toThrow('the reason')
  })

  it('is retried with the time of the answer when the clock differs', async () => {
    const { server, store } = await setUp()
    const skewed = '<Error><Code>RequestTimeTooSkewed</Code></Error>'
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
    server.inject({
      operation: 'PutObject',
      kind: 'answer',
      status: 403,
      headers: { Date: inAnHour },
      body: skewed,
    })
    await store.put('a', small)
    expect(server.operations()).toHaveLength(2)
  })

  for (const kind of ['drop-before', 'drop-after'] as const) {
    it(`is retried when the connection drops (${kind})`, async () => {
      const { server, store } = await setUp()
      for (const operation of [
        'PutObject',
        'GetObject',
        'ListObjectsV2',
        'DeleteObject',
      ] as const) {
        server.inject({ operation, kind, times: 2 })
      }
      await store.put('a', small)
      expect(await store.get('a', { maxBytes: 9 })).toEqual(small)
      expect(await collect(store.list(''))).toMatchObject([{ key: 'a' }])
      await store.remove('a')
      expect(server.operations()).toHaveLength(12)
    })
  }

  it('ends in an error when the server never answers', async () => {
    const { server, store } = await setUp({ requestTimeoutMs: 100 })
    server.inject({ operation: 'PutObject', kind: 'hang' })
    await store.put('a', small)
    server.inject({ operation: 'PutObject', kind: 'hang', times: attempts })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('the server did not answer in time')
    expect(error.transient).toBe(true)
  })

  it('is reported with the reason and the pause', async () => {
    const retries: StoreRetry[] = []
    const { server, store } = await setUp({ onRetry: (retry) => retries.push(retry) })
    server.inject({ operation: 'PutObject', kind: 'error', status: 503, code: 'SlowDown' })
    server.inject({ operation: 'PutObject', kind: 'drop-before' })
    await store.put('a/b', small)
    expect(retries).toMatchObject([
      { action: 'write', target: 's3://backups/a/b', attempt: 1, delayMs: expect.any(Number) },
      { attempt: 2, error: { message: expect.stringContaining('(ECONNRESET)') } },
    ])
    expect(retries[0]?.error.message).toBe(
      'Cannot write s3://backups/a/b: the server asks to slow down',
    )
  })

  it.each([
    ['list', (store: ObjectStore) => collect(store.list('')), 180, 190],
    ['read', (store: ObjectStore) => store.get('a', { maxBytes: 1 }), 180, 190],
    ['write 8 MiB', (store: ObjectStore) => store.put('a', large.subarray(0, part)), 430, 450],
  ] as const)('is given up in time when the server hangs: %s', async (_what, act, from, to) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const defaults = { requestTimeoutMs: undefined, idleTimeoutMs: undefined }
    const { server, store } = await setUp({ ...defaults, retryDelayMs: undefined })
    for (const operation of ['ListObjectsV2', 'GetObject', 'PutObject'] as const) {
      server.inject({ operation, kind: 'hang', times: attempts })
    }
    let message = ''
    const acting = failureOf(act(store)).then((error) => {
      message = error.message
    })
    let seconds = 0
    for (; message === '' && seconds < 1000; seconds += 1) {
      const seen = server.requests.length
      // Time stands still while a request is on its way.
      for (let turn = 0; turn < 50 && server.requests.length === seen; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      await vi.advanceTimersByTimeAsync(1000)
    }
    await acting
    expect(message).toContain('the server did not answer in time')
    expect(server.requests).toHaveLength(3)
    expect(seconds).toBeGreaterThanOrEqual(from)
    expect(seconds).toBeLessThanOrEqual(to)
  })

  it.each(['put', 'list', 'get'] as const)(
    'is no S3 server when it answers 101: %s',
    async (act) => {
      const { server, store } = await setUp()
      server.inject({ kind: 'upgrade', times: attempts })
      const acting = {
        put: () => store.put('a', small),
        list: () => collect(store.list('')),
        get: () => store.get('a', { maxBytes: 1 }),
      }[act]
      const error = await failureOf(acting())
      expect(error.message).toContain('the answer does not come from an S3 server')
      expect(error).toMatchObject({ kind: 'usage', transient: false })
      expect(server.requests).toHaveLength(1)
    },
  )

  it.each([
    [
      'the endpoint of a container',
      { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'HANGING' },
      'the credentials endpoint of the container (AWS_CONTAINER_CREDENTIALS_FULL_URI) gave no credentials within 0.2 s',
    ],
    [
      'STS',
      {
        AWS_WEB_IDENTITY_TOKEN_FILE: import.meta.filename,
        AWS_ROLE_ARN: 'arn:aws:iam::1:role/backup',
        AWS_REGION: 'eu-central-1',
        AWS_ENDPOINT_URL_STS: 'HANGING',
      },
      'STS (for the role arn:aws:iam::1:role/backup) gave no credentials within 0.2 s',
    ],
  ])('is no server when what gives credentials hangs: %s', async (_what, variables, state) => {
    await using hanging = await startHanging()
    const env = Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [
        name,
        value === 'HANGING' ? hanging.url : value,
      ]),
    )
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const { server, store } = await setUp({ credentials: undefined, env, requestTimeoutMs: 200 })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toBe(`Cannot write s3://backups/a: ${state}`)
    expect(server.requests).toHaveLength(0)
  })

  it('does not occur when a slow server answers in time', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'PutObject', kind: 'late', until: () => sleep(300) })
    await store.put('a', small)
    expect(server.operations()).toHaveLength(1)
  })
})

describe('a body that breaks off', () => {
  for (const kind of ['cut-body', 'stall-body'] as const) {
    it(`is read again from the start (${kind})`, async () => {
      const { server, store } = await setUp()
      await store.put('a', large.subarray(0, part))
      server.inject({ operation: 'GetObject', kind, afterBytes: 100_000 })
      expect(await store.get('a', { maxBytes: part })).toHaveLength(part)
      expect(server.operations()).toEqual(['PutObject', 'GetObject', 'GetObject'])
    })

    it(`is continued where it ended when it is read as a stream (${kind})`, async () => {
      const retries: StoreRetry[] = []
      const { server, store } = await setUp({ onRetry: (retry) => retries.push(retry) })
      const bytes = randomBytes(part)
      await store.put('a', bytes)
      server.inject({ operation: 'GetObject', kind, afterBytes: 100_000 })
      expect(bytes.equals(await readAll(store, 'a'))).toBe(true)
      expect(server.operations()).toEqual(['PutObject', 'GetObject', 'GetObject'])
      expect(server.requests.at(-1)?.headers.range).toBe('bytes=100000-')
      expect(retries).toMatchObject([{ action: 'read', target: 's3://backups/a', attempt: 1 }])
    })

    it(`ends in an error when the server supports no ranges (${kind})`, async () => {
      const { server, store } = await setUp({}, { ranges: false })
      await store.put('a', large.subarray(0, part))
      server.inject({ operation: 'GetObject', kind, afterBytes: 100_000 })
      const error = await failureOf(readAll(store, 'a'))
      expect(error.message).toMatch(/^Cannot read s3:\/\/backups\/a: /)
      expect(error).toMatchObject({ kind: 'failed', transient: true })
    })
  }

  for (const [length, change] of [
    [150_000, 'shorter'],
    [250_000, 'longer'],
  ] as const) {
    it(`ends in an error when the object has become ${change} before the rest is requested`, async () => {
      const { server, store } = await setUp()
      await store.put('a', large.subarray(0, 200_000))
      server.inject({ operation: 'GetObject', kind: 'stall-body', afterBytes: 100_000 })
      const chunks = await store.open('a')
      await store.put('a', large.subarray(0, length))
      const error = await failureOf(collect(chunks as AsyncIterable<Uint8Array>))
      expect(error.message).toMatch(/^Cannot read s3:\/\/backups\/a: /)
      expect(error).toMatchObject({ kind: 'failed', transient: true })
      expect(server.requests.at(-1)?.headers.range).toBe('bytes=100000-')
    })
  }

  it('ends in an error after the last attempt when it breaks off each time', async () => {
    const { server, store } = await setUp()
    await store.put('a', large.subarray(0, part))
    server.inject({ operation: 'GetObject', kind: 'cut-body', afterBytes: 10, times: 99 })
    const error = await failureOf(readAll(store, 'a'))
    expect(error.message).toMatch(/^Cannot read s3:\/\/backups\/a: /)
    expect(server.operations().filter((one) => one === 'GetObject')).toHaveLength(attempts)
  })

  it('ends in an error when it arrives too slowly', async () => {
    const { server, store } = await setUp({ idleTimeoutMs: 100 })
    await store.put('a', large.subarray(0, 5000))
    server.inject({ operation: 'GetObject', kind: 'drip-body', times: 99 })
    const error = await failureOf(readAll(store, 'a'))
    expect(error.message).toBe('Cannot read s3://backups/a: the server did not answer in time')
    expect(server.operations().filter((one) => one === 'GetObject')).toHaveLength(3)
  })

  it('is read again when it is a listing', async () => {
    const { server, store } = await setUp({ requestTimeoutMs: 100 })
    await store.put('a', small)
    server.inject({ operation: 'ListObjectsV2', kind: 'cut-body', afterBytes: 50 })
    server.inject({ operation: 'ListObjectsV2', kind: 'stall-body', afterBytes: 50 })
    expect(await collect(store.list(''))).toMatchObject([{ key: 'a' }])
    const listings = server.operations().filter((operation) => operation === 'ListObjectsV2')
    expect(listings).toHaveLength(3)
  })

  it('does not occur when the reader is slow', async () => {
    const { store } = await setUp()
    await store.put('a', large.subarray(0, part))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let chunks = 0
    for await (const _ of (await store.open('a')) ?? []) {
      if (chunks === 0) await vi.advanceTimersByTimeAsync(1000)
      chunks += 1
    }
    expect(chunks).toBeGreaterThan(1)
  })
})

describe('a listing', () => {
  const page = (keys: string[], more: string) =>
    `<ListBucketResult>${keys
      .map(
        (key) =>
          `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-11-20T16:31:00Z</LastModified></Contents>`,
      )
      .join('')}${more}</ListBucketResult>`
  const truncated = '<IsTruncated>true</IsTruncated>'

  it('is read to its end when the server sends no token', async () => {
    const { server, store } = await setUp()
    for (const key of ['a', 'b', 'c']) await store.put(key, small)
    const body = page(['a'], truncated)
    server.inject({ operation: 'ListObjectsV2', kind: 'answer', status: 200, body })
    expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['a', 'b', 'c'])
  })

  for (const [name, body] of [
    ['goes backwards', page(['b', 'a'], '<IsTruncated>false</IsTruncated>')],
    ['never ends', page([], truncated)],
  ] as const) {
    it(`fails when it ${name}`, async () => {
      const { server, store } = await setUp()
      server.inject({ operation: 'ListObjectsV2', kind: 'answer', status: 200, body, times: 9 })
      const error = await failureOf(collect(store.list('')))
      expect(error.message).toContain('does not order its list by key')
    })
  }

  it('leaves out entries that are not valid keys', async () => {
    const { server, store } = await setUp({ prefix: 'p' })
    const body = page(['p/', 'p/a', 'p/a//b', 'p/b/'], '<IsTruncated>false</IsTruncated>')
    server.inject({ operation: 'ListObjectsV2', kind: 'answer', status: 200, body })
    expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['a'])
  })
})

describe('tags', () => {
  const metadata = { type: 'search', 'taken-at': '2026-11-20T16:31:00Z' }

  it('are sent with small and large objects', async () => {
    const { server, store } = await setUp({ tagging: true })
    await store.put('small', small, { metadata })
    await store.put('large', large, { metadata })
    for (const key of ['small', 'large']) {
      const tags = new URLSearchParams(server.bucket.objects.get(key)?.tags)
      expect(Object.fromEntries(tags)).toEqual(metadata)
    }
  })

  it('end in an error with a hint when the server does not support them', async () => {
    const { store } = await setUp({ tagging: true }, { tagging: false })
    for (const body of [small, large]) {
      const error = await failureOf(store.put('a', body, { metadata }))
      expect(error.hint).toContain('remove store.tags from the configuration')
    }
  })
})

describe('a server without a list of unfinished uploads', () => {
  it('counts as a server with no unfinished uploads', async () => {
    const { store } = await setUp({}, { unsupported: ['ListMultipartUploads'] })
    expect(await collect(store.listUnfinished())).toEqual([])
  })
})

describe('an upload in parts', () => {
  it('succeeds after a transient failure at every step', async () => {
    const { server, store } = await setUp()
    for (const operation of [
      'CreateMultipartUpload',
      'UploadPart',
      'CompleteMultipartUpload',
    ] as const) {
      server.inject({ operation, kind: 'drop-before' })
      server.inject({ operation, kind: 'error', status: 503, code: 'SlowDown' })
    }
    server.inject({ operation: 'UploadPart', kind: 'drop-after' })
    await store.put('a', large)
    expect(server.bucket.objects.get('a')?.body.equals(large)).toBe(true)
    expect(server.bucket.uploads.size).toBe(0)
  })

  it('is complete when only the last answer was lost', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'CompleteMultipartUpload', kind: 'drop-after' })
    await store.put('a', large)
    expect(server.operations().slice(-3)).toEqual([
      'CompleteMultipartUpload',
      'CompleteMultipartUpload',
      'HeadObject',
    ])
  })

  it('fails when the upload is gone and the object is missing or different', async () => {
    const { server, store } = await setUp()
    for (const old of [undefined, small]) {
      if (old) await store.put('a', old)
      server.inject({ operation: 'CompleteMultipartUpload', kind: 'pretend' })
      const error = await failureOf(store.put('a', large))
      expect(error.message).toBe('Cannot write s3://backups/a: another client ended the upload')
      expect(server.bucket.objects.get('a')?.body).toEqual(old)
      expect(server.bucket.uploads.size).toBe(0)
    }
  })

  for (const ending of ['', '\n']) {
    it(`is completed again after an error under status 200${ending && ' and a line break'}`, async () => {
      const { server, store } = await setUp()
      const body = `<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>${ending}`
      const fault = {
        operation: 'CompleteMultipartUpload',
        kind: 'answer',
        status: 200,
        body,
      } as const
      server.inject(fault)
      await store.put('a', large)
      expect(server.bucket.objects.get('a')?.body.equals(large)).toBe(true)

      server.inject({ ...fault, times: attempts })
      const error = await failureOf(store.put('b', large))
      expect(error.message).toMatch(/: the server (reports an internal error|did not confirm)/)
      expect(error.transient).toBe(true)
      expect([...server.bucket.objects.keys()]).toEqual(['a'])
      expect(server.bucket.uploads.size).toBe(0)
    })
  }

  it('reports a refused part at the next write and is aborted', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'UploadPart', kind: 'error', status: 403, code: 'AccessDenied' })
    const writing = async () => {
      await using writer = await store.create('a')
      for (let index = 0; index < 4; index += 1) await writer.write(large.subarray(0, part))
    }
    expect((await failureOf(writing())).message).toContain('access denied')
    expect(server.bucket.uploads.size).toBe(0)
    expect(server.operations().at(-1)).toBe('AbortMultipartUpload')
  })

  it('is aborted when the signal stops the upload of a part', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'UploadPart', kind: 'hang', times: 9 })
    const controller = new AbortController()
    const writing = async () => {
      await using writer = await store.create('a', { signal: controller.signal })
      await writer.write(large)
      await writer.commit()
    }
    const written = expect(writing()).rejects.toThrow('the reason')
    await vi.waitUntil(() => server.operations().includes('UploadPart'), { timeout: 10_000 })
    controller.abort(new Error('the reason'))
    await written
    expect(server.bucket.uploads.size).toBe(0)
  })

  it('throws nothing when the abort of an unfinished upload fails', async () => {
    const { server, store } = await setUp()
    server.inject({
      operation: 'AbortMultipartUpload',
      kind: 'error',
      status: 403,
      code: 'AccessDenied',
    })
    {
      await using writer = await store.create('a')
      await writer.write(large)
    }
    expect(server.operations().at(-1)).toBe('AbortMultipartUpload')
  })

  it('uploads one part at a time, and the writer waits for it', async () => {
    const { server, store } = await setUp()
    const answers = Promise.withResolvers<void>()
    const until = () => answers.promise
    server.inject({ operation: 'UploadPart', kind: 'late', until, times: 9 })
    await using writer = await store.create('a')
    await writer.write(large.subarray(0, part))
    await writer.write(large.subarray(0, part))
    let isThirdTaken = false
    const third = writer.write(large.subarray(0, part)).then(() => {
      isThirdTaken = true
    })
    await expect.poll(() => server.operations()).toContain('UploadPart')
    const uploads = server.operations().filter((operation) => operation === 'UploadPart')
    expect([uploads.length, isThirdTaken]).toEqual([1, false])
    answers.resolve()
    await third
    await writer.commit()
    expect(server.bucket.objects.get('a')?.body).toHaveLength(3 * part)
  })

  it('sends checksums only to a server that keeps them', async () => {
    for (const checksums of [true, false]) {
      const { server, store } = await setUp({ checksums })
      await store.put('a', small)
      await store.put('b', large)
      const bodies = server.requests.filter(({ operation }) =>
        ['PutObject', 'UploadPart'].includes(operation),
      )
      for (const { headers } of bodies) {
        expect(headers['x-amz-checksum-sha256'] !== undefined).toBe(checksums)
        expect(headers['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/)
        expect(headers.expect).toBeUndefined()
      }
      const completed = server.requests.at(-1)?.body.toString()
      expect(completed?.includes('<ChecksumSHA256>')).toBe(checksums)
    }
  })
})
