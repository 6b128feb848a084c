import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
    [404, 'NoSuchBucket', 'usage', 'the bucket backups does not exist', 'Create it first'],
    [403, 'AccessDenied', 'usage', 'access denied', 'Allow these credentials'],
    [403, 'InvalidAccessKeyId', 'usage', 'does not know the access key', 'AWS_ACCESS_KEY_ID'],
    [403, 'SignatureDoesNotMatch', 'usage', 'the secret key does not', 'AWS_SECRET_ACCESS_KEY'],
    [400, 'ExpiredToken', 'usage', 'session credentials have expired', 'AWS_SESSION_TOKEN'],
    [301, 'PermanentRedirect', 'usage', 'another region', 'Set AWS_REGION to eu-central-1'],
    [400, 'AuthorizationHeaderMalformed', 'usage', 'another region', 'AWS_REGION to eu-central-1'],
    [403, 'RequestTimeTooSkewed', 'failed', 'the clocks of this machine', 'Set the clock'],
    [403, 'QuotaExceeded', 'failed', 'the quota is used up', 'Raise the quota of bucket backups'],
    [507, 'InsufficientStorage', 'failed', 'the storage is full', 'Raise the quota'],
    [501, 'NotImplemented', 'usage', 'does not support', 'Use a server that supports it'],
    [400, 'InvalidRequest', 'usage', 'refuses the request', 'dashkeep doctor'],
    [400, 'BadDigest', 'failed', 'the bytes were changed on the way', 'broken memory'],
    [413, 'EntityTooLarge', 'failed', 'object is too large for the server', 'Raise the limit'],
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
    [{ tagging: true }, 'Take store.tags out'],
    [{ encryption: { mode: 'sse-s3' } }, 'Take store.encryption out'],
    [
      { tagging: true, lock: { mode: 'governance', durationMs: 1000 } },
      'Take store.tags or store.lock out',
    ],
  ] as const)('of what is not supported names what is configured: %j', async (options, hint) => {
    const { server, store } = await setUp(options)
    server.inject({ operation: 'PutObject', kind: 'error', status: 501, code: 'NotImplemented' })
    expect((await failureOf(store.put('a', small))).hint).toContain(hint)
  })

  it('under any verb names what was to be done', async () => {
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

  it('shows nothing of the request or of the keys', async () => {
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

describe('an address that is not right', () => {
  it('shows when the access key is unknown there', async () => {
    const credentials = { accessKeyId: 'other', secretAccessKey: 'secret' }
    const { store } = await setUp({ credentials })
    expect((await failureOf(store.put('a', small))).message).toContain('does not know the access')
  })

  it('shows when nothing listens', async () => {
    const { server, store } = await setUp()
    await server[Symbol.asyncDispose]()
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('the connection failed (ECONNREFUSED)')
    expect(error.transient).toBe(true)
  })

  it('shows when the host is unknown', async () => {
    const { store } = await setUp({ endpoint: 'http://no-such-host.invalid' })
    expect((await failureOf(store.put('a', small))).message).toContain('host name')
  })

  it('shows when it is https for http', async () => {
    const { server } = await setUp()
    const { store } = await setUp({ endpoint: server.url.replace('http:', 'https:') })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('does not speak the protocol of its address')
    expect(error.kind).toBe('usage')
  })

  for (const status of [200, 404]) {
    it(`shows when a web page answers with status ${status}`, async () => {
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

  it('shows when no credentials are to be found', async () => {
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

describe('a failure that passes', () => {
  for (const [status, code] of [
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [502, 'BadGateway'],
    [429, 'TooManyRequests'],
    [400, 'RequestTimeout'],
  ] as const) {
    it(`${status} ${code} is outlasted`, async () => {
      const { server, store } = await setUp()
      server.inject({ operation: 'PutObject', kind: 'error', status, code, times: attempts - 1 })
      await store.put('a', small)
      expect(server.operations()).toHaveLength(attempts)
      expect(server.bucket.objects.get('a')?.body).toEqual(small)
    })
  }

  it('is given up after a few attempts', async () => {
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

  it('is waited for no longer once the signal aborts', async () => {
    const { server, store } = await setUp({ retryDelayMs: 60_000 })
    server.inject({ operation: 'GetObject', kind: 'error', status: 503, code: 'SlowDown' })
    const controller = new AbortController()
    const reading = store.get('a', { maxBytes: 1, signal: controller.signal })
    setTimeout(() => controller.abort(new Error('the reason')), 50)
    await expect(reading).rejects.toThrow('the reason')
  })

  it('of a clock that differs is corrected from the answer', async () => {
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
    it(`is a connection that drops (${kind})`, async () => {
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

  it('is a server that never answers', async () => {
    const { server, store } = await setUp({ requestTimeoutMs: 100 })
    server.inject({ operation: 'PutObject', kind: 'hang' })
    await store.put('a', small)
    server.inject({ operation: 'PutObject', kind: 'hang', times: attempts })
    const error = await failureOf(store.put('a', small))
    expect(error.message).toContain('the server did not answer in time')
    expect(error.transient).toBe(true)
  })

  it('is told, with what failed and how long is waited', async () => {
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
      "the container's endpoint for credentials (AWS_CONTAINER_CREDENTIALS_FULL_URI) gave no credentials within 0.2 s",
    ],
    [
      'STS',
      {
        AWS_WEB_IDENTITY_TOKEN_FILE: import.meta.filename,
        AWS_ROLE_ARN: 'arn:aws:iam::1:role/backup',
        AWS_REGION: 'eu-central-1',
        AWS_ENDPOINT_URL_STS: 'HANGING',
      },
      'STS, asked for the role arn:aws:iam::1:role/backup, gave no credentials within 0.2 s',
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

  it('is a slow server, as long as it answers in time', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'PutObject', kind: 'slow', delayMs: 300 })
    await store.put('a', small)
    expect(server.operations()).toHaveLength(1)
  })
})

describe('a body that breaks off', () => {
  for (const kind of ['cut-body', 'stall-body'] as const) {
    it(`is read again as a whole (${kind})`, async () => {
      const { server, store } = await setUp()
      await store.put('a', large.subarray(0, part))
      server.inject({ operation: 'GetObject', kind, afterBytes: 100_000 })
      expect(await store.get('a', { maxBytes: part })).toHaveLength(part)
      expect(server.operations()).toEqual(['PutObject', 'GetObject', 'GetObject'])
    })

    it(`goes on where it ended for whoever reads it as it arrives (${kind})`, async () => {
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

    it(`fails where no part of an object can be had (${kind})`, async () => {
      const { server, store } = await setUp({}, { ranges: false })
      await store.put('a', large.subarray(0, part))
      server.inject({ operation: 'GetObject', kind, afterBytes: 100_000 })
      const error = await failureOf(readAll(store, 'a'))
      expect(error.message).toMatch(/^Cannot read s3:\/\/backups\/a: /)
      expect(error).toMatchObject({ kind: 'failed', transient: true })
    })
  }

  it('each time is given up in the end', async () => {
    const { server, store } = await setUp()
    await store.put('a', large.subarray(0, part))
    server.inject({ operation: 'GetObject', kind: 'cut-body', afterBytes: 10, times: 99 })
    const error = await failureOf(readAll(store, 'a'))
    expect(error.message).toMatch(/^Cannot read s3:\/\/backups\/a: /)
    expect(server.operations().filter((one) => one === 'GetObject')).toHaveLength(attempts)
  })

  it('comes drop by drop', async () => {
    const { server, store } = await setUp({ idleTimeoutMs: 100 })
    await store.put('a', large.subarray(0, 5000))
    server.inject({ operation: 'GetObject', kind: 'drip-body', times: 99 })
    const error = await failureOf(readAll(store, 'a'))
    expect(error.message).toBe('Cannot read s3://backups/a: the server did not answer in time')
    expect(server.operations().filter((one) => one === 'GetObject')).toHaveLength(3)
  })

  it('is a listing, too', async () => {
    const { server, store } = await setUp({ requestTimeoutMs: 100 })
    await store.put('a', small)
    server.inject({ operation: 'ListObjectsV2', kind: 'cut-body', afterBytes: 50 })
    server.inject({ operation: 'ListObjectsV2', kind: 'stall-body', afterBytes: 50 })
    expect(await collect(store.list(''))).toMatchObject([{ key: 'a' }])
    const listings = server.operations().filter((operation) => operation === 'ListObjectsV2')
    expect(listings).toHaveLength(3)
  })

  it('is not a body whose reader takes its time', async () => {
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

  it('is read to its end when the server gives no token', async () => {
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
      expect(error.message).toContain('does not list in the order of keys')
    })
  }

  it('leaves out what is no key', async () => {
    const { server, store } = await setUp({ prefix: 'p' })
    const body = page(['p/', 'p/a', 'p/a//b', 'p/b/'], '<IsTruncated>false</IsTruncated>')
    server.inject({ operation: 'ListObjectsV2', kind: 'answer', status: 200, body })
    expect((await collect(store.list(''))).map(({ key }) => key)).toEqual(['a'])
  })
})

describe('tags', () => {
  const metadata = { type: 'search', 'taken-at': '2026-11-20T16:31:00Z' }

  it('go with small and large objects', async () => {
    const { server, store } = await setUp({ tagging: true })
    await store.put('small', small, { metadata })
    await store.put('large', large, { metadata })
    for (const key of ['small', 'large']) {
      const tags = new URLSearchParams(server.bucket.objects.get(key)?.tags)
      expect(Object.fromEntries(tags)).toEqual(metadata)
    }
  })

  it('that the server does not support fail with a hint', async () => {
    const { store } = await setUp({ tagging: true }, { tagging: false })
    for (const body of [small, large]) {
      const error = await failureOf(store.put('a', body, { metadata }))
      expect(error.hint).toContain('Take store.tags out of the configuration')
    }
  })
})

describe('a server that lacks something', () => {
  it('has no list of unfinished uploads, which reads as none', async () => {
    const { store } = await setUp({}, { unsupported: ['ListMultipartUploads'] })
    expect(await collect(store.listUnfinished())).toEqual([])
  })
})

describe('an upload in parts', () => {
  it('outlasts what passes, at every step', async () => {
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

  it('is complete when only the answer was lost', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'CompleteMultipartUpload', kind: 'drop-after' })
    await store.put('a', large)
    expect(server.operations().slice(-3)).toEqual([
      'CompleteMultipartUpload',
      'CompleteMultipartUpload',
      'HeadObject',
    ])
  })

  it('fails when the upload is gone and the object is not there, or another one', async () => {
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

  it('reports a refused part at the next chance and is aborted', async () => {
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

  it('is aborted when the signal stops a part on its way', async () => {
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

  it('is given up quietly when it cannot even be aborted', async () => {
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

  it('has one part on its way at a time, and the writer waits for it', async () => {
    const { server, store } = await setUp()
    server.inject({ operation: 'UploadPart', kind: 'slow', delayMs: 200, times: 9 })
    await using writer = await store.create('a')
    const began = Date.now()
    await writer.write(large.subarray(0, part))
    await writer.write(large.subarray(0, part))
    expect(Date.now() - began).toBeLessThan(150)
    await writer.write(large.subarray(0, part))
    expect(Date.now() - began).toBeGreaterThan(190)
    await writer.commit()
    expect(server.bucket.objects.get('a')?.body).toHaveLength(3 * part)
  })

  it('sends checksums where the server keeps them, and only there', async () => {
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
