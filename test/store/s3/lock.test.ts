import { afterEach, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../../src/store/object-store.ts'
import type { S3StoreOptions } from '../../../src/store/s3/options.ts'
import { createS3Store } from '../../../src/store/s3/store.ts'
import { collect } from '../../contract/collect.ts'
import { type S3Server, type S3ServerOptions, startS3Server } from '../../s3-server/s3-server.ts'

const day = 24 * 3600_000
const lockFrom = new Date('2026-11-20T16:31:00.250Z')
const governance = { mode: 'governance', durationMs: 30 * day } as const
const compliance = { mode: 'compliance', durationMs: 30 * day } as const
/** Thirty days later, on the next full second. */
const until = new Date('2026-12-20T16:31:01Z')
const small = Buffer.from('small')
const large = Buffer.alloc(9 * 1024 * 1024, 'large')

const cleanups: AsyncDisposable[] = []
afterEach(async () => {
  for (const resource of cleanups.splice(0)) await resource[Symbol.asyncDispose]()
})

async function serve(options: S3ServerOptions = {}): Promise<S3Server> {
  const server = await startS3Server(options)
  cleanups.push(server)
  return server
}

function open(server: S3Server, options: Partial<S3StoreOptions> = {}): Required<ObjectStore> {
  const { url: endpoint, bucketName: bucket, credentials } = server
  const store = createS3Store({ endpoint, bucket, credentials, retryDelayMs: 1, ...options })
  cleanups.unshift({ [Symbol.asyncDispose]: () => store.close() })
  return store as Required<ObjectStore>
}

function retentionOf(server: S3Server, key: string) {
  return server.bucket.objects.get(key)?.retention
}

describe('a store with a lock', () => {
  it('locks small and large objects from the given time, and reads the locks back', async () => {
    const server = await serve({ objectLock: true })
    const store = open(server, { lock: governance })
    await store.put('small', small, { lockFrom })
    await store.put('large', large, { lockFrom })
    const kept = { mode: 'GOVERNANCE', until }
    expect(retentionOf(server, 'small')).toEqual(kept)
    expect(retentionOf(server, 'large')).toEqual(kept)
    const asked = server.requests.filter(({ operation }) => operation === 'GetObjectRetention')
    expect(new Set(asked.map(({ key }) => key))).toEqual(new Set(['small', 'large']))
    expect(await store.lockedUntil('large')).toEqual(until)
  })

  it('locks no object that is written without a lock time', async () => {
    const server = await serve({ objectLock: true })
    await open(server, { lock: governance }).put('probe', small)
    await open(server).put('no lock configured', small, { lockFrom })
    expect(retentionOf(server, 'probe')).toBeUndefined()
    expect(retentionOf(server, 'no lock configured')).toBeUndefined()
    expect(server.operations()).toEqual(['PutObject', 'PutObject'])
  })

  it('fails when the server accepts the lock and does not keep it', async () => {
    const server = await serve({ objectLock: true, ignores: ['lock'] })
    const store = open(server, { lock: compliance })
    for (const [key, body] of [
      ['small', small],
      ['large', large],
    ] as const) {
      await expect(store.put(key, body, { lockFrom })).rejects.toMatchObject({
        kind: 'failed',
        message: `Cannot lock s3://backups/${key}: the server accepts the lock but does not store it`,
        hint: expect.stringContaining('Object Lock'),
      })
    }
  })

  it('fails when the server keeps a shorter lock', async () => {
    const server = await serve({ objectLock: true })
    const store = open(server, { lock: governance })
    const retention =
      '<Mode>GOVERNANCE</Mode><RetainUntilDate>2026-12-20T16:31:00Z</RetainUntilDate>'
    const body = `<Retention>${retention}</Retention>`
    server.inject({ operation: 'GetObjectRetention', kind: 'answer', status: 200, body, times: 2 })
    await expect(store.put('a', small, { lockFrom })).rejects.toThrow('does not store it')
  })

  it('fails with a hint when the bucket has no Object Lock', async () => {
    const server = await serve()
    const store = open(server, { lock: governance })
    for (const body of [small, large]) {
      await expect(store.put('a', body, { lockFrom })).rejects.toMatchObject({
        kind: 'usage',
        message: expect.stringContaining('the server refuses the request (400 InvalidRequest)'),
        hint: expect.stringContaining('needs a bucket with Object Lock'),
      })
    }
  })

  it('fails with the name of the missing right', async () => {
    const server = await serve({ objectLock: true })
    const store = open(server, { lock: governance })
    const denied = { kind: 'error', status: 403, code: 'AccessDenied' } as const
    for (const operation of ['GetObjectRetention', 'GetObjectLockConfiguration'] as const) {
      server.inject({ operation, ...denied })
    }
    await expect(store.put('a', small, { lockFrom })).rejects.toMatchObject({
      hint: 'allow these credentials s3:GetObjectRetention in bucket backups',
    })
    await expect(store.lockedUntil('a')).rejects.toMatchObject({
      hint: 'allow these credentials s3:GetBucketObjectLockConfiguration in bucket backups',
    })
    server.inject({ operation: 'PutObject', ...denied })
    await expect(store.put('a', small, { lockFrom })).rejects.toMatchObject({
      hint: expect.stringContaining('s3:PutObjectRetention'),
    })
  })

  it('reads the lock again after a transient failure', async () => {
    const server = await serve({ objectLock: true })
    const store = open(server, { lock: governance })
    server.inject({ operation: 'GetObjectRetention', kind: 'drop-after' })
    server.inject({ operation: 'PutObjectRetention', kind: 'error', status: 503, code: 'SlowDown' })
    await store.put('large', large, { lockFrom })
    expect(retentionOf(server, 'large')).toEqual({ mode: 'GOVERNANCE', until })
  })
})

describe('a bucket with a default lock', () => {
  it('gets the checksum that S3 requires, for small and large objects', async () => {
    const defaultRetention = { mode: 'COMPLIANCE', days: 30 }
    const server = await serve({ objectLock: true, defaultRetention })
    const store = open(server)
    await store.put('small', small)
    await store.put('large', large)
    const read = await store.get('large', { maxBytes: large.length })
    expect(read && large.equals(read)).toBe(true)
    const bodies = server.requests.filter(({ operation }) =>
      ['PutObject', 'UploadPart'].includes(operation),
    )
    for (const { headers } of bodies) expect(headers['content-md5']).toMatch(/^[\w+/]{22}==$/)
    expect(await store.lockedUntil('small')).toBeInstanceOf(Date)
  })
})

describe('protecting a stored object', () => {
  const later = new Date(lockFrom.getTime() + day)
  const extended = new Date(until.getTime() + day)

  it('extends a lock and never shortens it', async () => {
    const server = await serve({ objectLock: true })
    const store = open(server, { lock: governance })
    await store.put('a', small, { lockFrom })
    expect(await store.protect('a', { lockFrom: later })).toBe(true)
    expect(retentionOf(server, 'a')?.until).toEqual(extended)
    expect(await store.protect('a', { lockFrom })).toBe(true)
    expect(retentionOf(server, 'a')?.until).toEqual(extended)
  })

  it('locks an object that has no lock', async () => {
    const server = await serve({ objectLock: true })
    await open(server).put('a', small)
    expect(await open(server, { lock: compliance }).protect('a', { lockFrom })).toBe(true)
    expect(retentionOf(server, 'a')).toEqual({ mode: 'COMPLIANCE', until })
  })

  it('keeps the stronger mode, and fails when only the weaker mode is possible', async () => {
    const server = await serve({ objectLock: true })
    const weak = open(server, { lock: governance })
    const strong = open(server, { lock: compliance })
    await weak.put('weak', small, { lockFrom })
    await strong.put('strong', small, { lockFrom })
    expect(await weak.protect('strong', { lockFrom: later })).toBe(true)
    expect(retentionOf(server, 'strong')).toEqual({ mode: 'COMPLIANCE', until: extended })
    expect(await strong.protect('weak', { lockFrom: later })).toBe(false)
    expect(retentionOf(server, 'weak')).toEqual({ mode: 'GOVERNANCE', until })
  })

  it('fails when the server does not extend the lock', async () => {
    const server = await serve({ objectLock: true, ignores: ['lock'] })
    await open(server).put('a', small)
    const store = open(server, { lock: governance })
    await expect(store.protect('a', { lockFrom })).rejects.toThrow('does not store it')
    await expect(store.protect('gone', { lockFrom })).rejects.toThrow('it is not there')
  })

  it('does nothing without a configured lock', async () => {
    const server = await serve()
    expect(await open(server).protect('a', { lockFrom })).toBe(true)
    expect(server.operations()).toEqual([])
  })
})

describe('reading locks', () => {
  it('asks the bucket once, and sends no further request when it has no Object Lock', async () => {
    const server = await serve()
    const store = open(server)
    await store.put('a', small)
    expect([await store.lockedUntil('a'), await store.lockedUntil('b')]).toEqual([
      undefined,
      undefined,
    ])
    expect(server.operations()).toEqual(['PutObject', 'GetObjectLockConfiguration'])
  })

  it('finds no locks when the server does not support Object Lock', async () => {
    const server = await serve()
    const unknown = { kind: 'error', status: 501, code: 'NotImplemented' } as const
    server.inject({ operation: 'GetObjectLockConfiguration', ...unknown })
    expect(await open(server).lockedUntil('a')).toBeUndefined()
  })

  it('returns locks that another client has set, and undefined without a lock', async () => {
    const server = await serve({ objectLock: true })
    await open(server, { lock: governance }).put('locked', small, { lockFrom })
    const store = open(server)
    await store.put('free', small)
    expect(await store.lockedUntil('locked')).toEqual(until)
    expect(await store.lockedUntil('free')).toBeUndefined()
    expect(await store.lockedUntil('gone')).toBeUndefined()
  })
})

describe('a store with encryption by the server', () => {
  it('requests encryption of small and large objects, and checks the answer', async () => {
    const server = await serve()
    const store = open(server, { encryption: { mode: 'sse-kms', keyId: 'the-key' } })
    await store.put('small', small)
    await store.put('large', large)
    for (const key of ['small', 'large']) {
      expect(server.bucket.objects.get(key)?.encryption).toBe('aws:kms')
    }
    const writes = server.requests.filter(({ operation }) =>
      ['PutObject', 'CreateMultipartUpload'].includes(operation),
    )
    const keyIds = writes.map(
      ({ headers }) => headers['x-amz-server-side-encryption-aws-kms-key-id'],
    )
    expect(keyIds).toEqual(['the-key', 'the-key'])
    expect(server.operations()).toContain('HeadObject')
  })

  it('fails when the server accepts the request and does not encrypt', async () => {
    const server = await serve({ ignores: ['encryption'] })
    const store = open(server, { encryption: { mode: 'sse-s3' } })
    for (const body of [small, large]) {
      await expect(store.put('a', body)).rejects.toMatchObject({
        message: expect.stringMatching(/^Cannot encrypt .*\/a: .* sse-s3 .* none$/),
        hint: expect.stringContaining('store.encryption'),
      })
    }
  })

  it('fails with a hint when the key is invalid', async () => {
    const server = await serve()
    const store = open(server, { encryption: { mode: 'sse-kms' } })
    const fault = { operation: 'PutObject', kind: 'error', status: 400 } as const
    server.inject({ ...fault, code: 'KMS.NotFoundException' })
    await expect(store.put('a', small)).rejects.toMatchObject({
      message: expect.stringContaining('cannot use the encryption key'),
      hint: expect.stringContaining('store.encryption.keyId'),
    })
  })
})

describe('inspecting the bucket', () => {
  async function look(serverOptions: S3ServerOptions, options: Partial<S3StoreOptions> = {}) {
    const server = await serve(serverOptions)
    const store = open(server, { prefix: 'kept/here', ...options })
    const findings = await collect(store.examine())
    return findings.map(({ subject, result, detail }) => `${result} ${subject}: ${detail}`)
  }

  it('finds no problem when versioning, a lock and a rule for old versions are set', async () => {
    const lifecycle =
      '<Rule><Status>Enabled</Status><Filter><Prefix></Prefix></Filter><NoncurrentVersionExpiration>' +
      '<NoncurrentDays>7</NoncurrentDays></NoncurrentVersionExpiration></Rule>'
    expect(await look({ objectLock: true, lifecycle }, { lock: governance })).toEqual([
      'ok versioning: the bucket keeps versions',
      'ok lock: files are locked in governance mode',
      'ok lifecycle: no rule removes snapshots',
      'ok uploads: unfinished uploads can be listed and aborted',
    ])
  })

  it('reports missing versioning and lock, as a failure when a lock is configured', async () => {
    const [versioning, lock, ...rest] = await look({})
    expect(versioning).toMatch(/^warning versioning: the bucket keeps no versions/)
    expect(lock).toMatch(/^warning lock: the bucket has no Object Lock/)
    expect(rest[0]).toBe('ok lifecycle: no rule removes snapshots')
    const configured = await look({}, { lock: governance })
    expect(configured[1]).toBe('failed lock: the bucket has no Object Lock, which store.lock needs')
  })

  it('reports that no lock is configured and that old versions stay', async () => {
    const [, lock, ...rest] = await look({ objectLock: true })
    expect(lock).toBe('warning lock: the bucket has Object Lock, but nothing locks files')
    expect(rest[1]).toMatch(/^warning lifecycle: no rule removes old versions/)
  })

  it('reports the lifecycle rules that would remove snapshots, and no others', async () => {
    const rule = (id: string, prefix: string, action: string, status = 'Enabled') =>
      `<Rule><ID>${id}</ID><Status>${status}</Status>${prefix}${action}</Rule>`
    const inDays = '<Expiration><Days>30</Days></Expiration>'
    const marker =
      '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>'
    const abort =
      '<AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
    const tagged = '<Tag><Key>a</Key><Value>b</Value></Tag>'
    const lifecycle = [
      rule('all', '<Filter></Filter>', inDays),
      rule('above', '<Filter><Prefix>kept</Prefix></Filter>', inDays),
      rule('old form', '<Prefix>kept/here/1</Prefix>', inDays),
      rule(
        'some',
        `<Filter><And><Prefix>kept/</Prefix>${tagged}</And></Filter>`,
        '<Expiration><Date>2030-01-01T00:00:00Z</Date></Expiration>',
      ),
      rule('elsewhere', '<Filter><Prefix>kept/hereafter/</Prefix></Filter>', inDays),
      rule('off', '<Filter></Filter>', inDays, 'Disabled'),
      rule('markers', '<Filter></Filter>', marker),
      rule('uploads', '<Filter></Filter>', abort),
    ].join('')
    const lines = await look({ lifecycle })
    expect(lines.filter((line) => line.includes('lifecycle'))).toEqual([
      'warning lifecycle: the rule all removes objects after 30 days, snapshots included',
      'warning lifecycle: the rule above removes objects below kept after 30 days, snapshots included',
      'warning lifecycle: the rule old form removes objects below kept/here/1 after 30 days, snapshots included',
      'warning lifecycle: the rule some removes some objects below kept/ on 2030-01-01, snapshots included',
    ])
  })

  it('reports a check that the server refuses, and continues', async () => {
    const server = await serve()
    server.inject({
      operation: 'GetBucketVersioning',
      kind: 'error',
      status: 403,
      code: 'AccessDenied',
    })
    server.inject({
      operation: 'GetBucketLifecycleConfiguration',
      kind: 'error',
      status: 501,
      code: 'NotImplemented',
    })
    const findings = await collect(open(server).examine())
    expect(findings).toMatchObject([
      {
        result: 'warning',
        detail: expect.stringMatching(/^not checked: .*access denied$/),
        hint: 'allow these credentials s3:GetBucketVersioning in bucket backups',
      },
      { subject: 'lock' },
      {
        subject: 'lifecycle',
        result: 'ok',
        detail: 'the server has no lifecycle rules, so none removes snapshots',
      },
      { subject: 'uploads' },
    ])
  })
})
