import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectLockConfigurationCommand,
} from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ObjectStore } from '../../src/store/object-store.ts'
import type { S3StoreOptions } from '../../src/store/s3/options.ts'
import { createS3Store } from '../../src/store/s3/store.ts'
import { leaveOut } from '../left-out.ts'
import { findRealS3Server, type RealS3Server, withRealS3Server } from '../s3-server/ceph.ts'
import { startBucketTrial } from './bucket-trial.ts'
import { accountsOf, jsonLines } from './run-dashkeep.ts'
import { shopId, shortLimits } from './trial.ts'

const start = findRealS3Server()
if (!start) leaveOut('locked objects on a real S3 server', withRealS3Server)
const twoDays = 2 * 24 * 3600_000
const hour = 3600_000
const large = Buffer.alloc(9 * 1024 * 1024, 'large')

interface PruneResult {
  readonly removed: number
  readonly failed: unknown[]
  readonly locked: { readonly keptUntil: string }[]
}

describe.skipIf(start === undefined)('a real S3 server', () => {
  const stores: ObjectStore[] = []
  let server: RealS3Server
  let bucket: string

  beforeAll(async () => {
    if (start === undefined) return
    server = await start()
  }, 600_000)

  afterAll(async () => {
    await server[Symbol.asyncDispose]()
  })

  beforeEach(() => {
    bucket = `dashkeep-${randomUUID()}`
  })

  afterEach(async () => {
    vi.unstubAllEnvs()
    for (const store of stores.splice(0)) await store.close()
    await removeBucket()
  })

  async function makeBucket({ objectLock }: { objectLock: boolean }): Promise<void> {
    const command = { Bucket: bucket, ObjectLockEnabledForBucket: objectLock }
    await server.client.send(new CreateBucketCommand(command))
  }

  /** What is locked in governance mode goes with the right to bypass it. */
  async function removeBucket(): Promise<void> {
    const { Versions = [], DeleteMarkers = [] } = await server.client.send(
      new ListObjectVersionsCommand({ Bucket: bucket }),
    )
    for (const { Key, VersionId } of [...Versions, ...DeleteMarkers]) {
      const version = { Bucket: bucket, Key, VersionId, BypassGovernanceRetention: true }
      await server.client.send(new DeleteObjectCommand(version))
    }
    await server.client.send(new DeleteBucketCommand({ Bucket: bucket }))
  }

  function openStore(options: Partial<S3StoreOptions>): Required<ObjectStore> {
    const { endpoint, credentials } = server
    const store = createS3Store({ endpoint, credentials, bucket, ...options })
    stores.push(store)
    return store as Required<ObjectStore>
  }

  describe('with Object Lock', () => {
    const lock = { mode: 'governance', durationMs: hour } as const

    it('locks small objects and uploads in parts, and refuses to delete them', async () => {
      await makeBucket({ objectLock: true })
      const store = openStore({ lock })
      const lockFrom = new Date()
      await store.put('small', Buffer.from('small'), { lockFrom })
      await store.put('large', large, { lockFrom })
      await store.put('probe', Buffer.from('probe'))
      for (const Key of ['small', 'large']) {
        const head = await server.client.send(new HeadObjectCommand({ Bucket: bucket, Key }))
        expect(head.ObjectLockMode).toBe('GOVERNANCE')
        const until = head.ObjectLockRetainUntilDate?.getTime()
        expect(until).toBeGreaterThanOrEqual(lockFrom.getTime() + hour)
        expect(await store.lockedUntil(Key)).toEqual(head.ObjectLockRetainUntilDate)
        const deletion = { Bucket: bucket, Key, VersionId: head.VersionId }
        await expect(server.client.send(new DeleteObjectCommand(deletion))).rejects.toThrow(
          'object lock',
        )
      }
      expect(await store.lockedUntil('probe')).toBeUndefined()
    })

    it('extends locks, and does not change their mode', async () => {
      await makeBucket({ objectLock: true })
      const lockFrom = new Date()
      await openStore({ lock }).put('a', Buffer.from('a'), { lockFrom })
      const longer = openStore({ lock: { ...lock, durationMs: 2 * hour } })
      expect(await longer.protect('a', { lockFrom })).toBe(true)
      const until = await longer.lockedUntil('a')
      expect(until?.getTime()).toBeGreaterThanOrEqual(lockFrom.getTime() + 2 * hour)
      expect(await openStore({ lock }).protect('a', { lockFrom })).toBe(true)
      const compliance = { mode: 'compliance', durationMs: 3 * hour } as const
      expect(await openStore({ lock: compliance }).protect('a', { lockFrom })).toBe(false)
      expect(await longer.lockedUntil('a')).toEqual(until)
    })

    it('by default of the bucket is seen by who configured none', async () => {
      await makeBucket({ objectLock: true })
      const Rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } } as const
      const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const
      await server.client.send(
        new PutObjectLockConfigurationCommand({ Bucket: bucket, ObjectLockConfiguration }),
      )
      const store = openStore({})
      await store.put('a', Buffer.from('a'))
      expect((await store.lockedUntil('a'))?.getTime()).toBeGreaterThan(Date.now() + 23 * hour)
    })

    it('that the bucket was made without says so', async () => {
      await makeBucket({ objectLock: false })
      const store = openStore({ lock })
      const writing = store.put('a', Buffer.from('a'), { lockFrom: new Date() })
      await expect(writing).rejects.toMatchObject({
        kind: 'usage',
        hint: expect.stringContaining('needs a bucket with Object Lock'),
      })
      const plain = openStore({})
      await plain.put('a', Buffer.from('a'))
      expect(await plain.lockedUntil('a')).toBeUndefined()
    })
  })

  it('loses nothing to prune --yes before a lock is over, and lets go afterwards', async () => {
    await makeBucket({ objectLock: true })
    const { endpoint, credentials } = server
    await using started = await startBucketTrial({ endpoint, bucket, credentials })
    const { trial, env } = started
    // The runs say that they are of two days ago, so that their locks end soon.
    const lock = { mode: 'compliance', duration: '2d20s' }
    env.DASHKEEP_CONFIG = await trial.write('l.yaml', { limits: shortLimits, store: { lock } })
    const begin = Date.now() - twoDays
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    for (const [number, title] of ['Slow', 'Slow', 'Slower', 'Slowest'].entries()) {
      trial.sandbox.setObjects(shopId, 'search', document.replace('Slow', title))
      const backup = await trial.runAt(new Date(begin + number * 1000), ['backup'], env)
      expect(backup.exitCode).toBe(0)
    }
    const listed = async () => jsonLines((await trial.run(['list', '--json'], env)).stdout)
    const before = await listed()
    expect(before.map(({ files }) => files)).toEqual([4, 1, 4, 4])

    const prune = ['prune', '--keep-last', '1', '--yes', '--json']
    const refused = await trial.run(prune, env)
    expect(refused.exitCode).toBe(0)
    const { locked, removed, failed } = JSON.parse(refused.stdout) as PruneResult
    expect({ removed, failed }).toEqual({ removed: 0, failed: [] })
    expect(locked).toHaveLength(3)
    for (const { keptUntil } of locked) expect(Date.parse(keptUntil)).toBeGreaterThan(Date.now())
    expect(await listed()).toEqual(before)
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)

    await wait(Math.max(...locked.map(({ keptUntil }) => Date.parse(keptUntil))) - Date.now() + 100)
    const done = await trial.run(prune, env)
    expect(JSON.parse(done.stdout)).toMatchObject({ removed: 3, locked: [], failed: [] })
    expect(await listed()).toEqual(before.slice(-1))
    expect((await trial.run(['verify'], env)).exitCode).toBe(0)
    // The lock of the snapshot that stays ends a second later.
    await wait(2_000)
  }, 90_000)

  it('is looked at by doctor, which leaves nothing that could not be deleted', async () => {
    await makeBucket({ objectLock: true })
    const Rules = [
      { ID: 'monthly', Status: 'Enabled', Filter: { Prefix: 'kept/' }, Expiration: { Days: 30 } },
    ] as const
    const LifecycleConfiguration = { Rules: [...Rules] }
    await server.client.send(
      new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }),
    )
    const { endpoint, credentials } = server
    await using started = await startBucketTrial({ endpoint, bucket, credentials })
    const { trial, env } = started
    const lock = { mode: 'governance', duration: '30d' }
    env.DASHKEEP_CONFIG = await trial.write('l.yaml', { limits: shortLimits, store: { lock } })
    const { exitCode, stdout } = await trial.run(['doctor'], env)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ok +store versioning: /m)
    expect(stdout).toMatch(
      /^ok +store lock: a test object was locked .* and the server confirms the lock$/m,
    )
    expect(stdout).toMatch(/^ok +store lock: files are locked in governance mode$/m)
    expect(stdout).toMatch(/^ok +store uploads: unfinished uploads can be listed and aborted$/m)
    expect(stdout).toMatch(/^warning +store lifecycle: the rule monthly removes .* after 30 days/m)
  })

  it('encrypts with a key of its own, or the backup fails', async ({ skip }) => {
    skip(server.kmsKeyId === undefined, 'DASHKEEP_TEST_S3_KMS_KEY names no key')
    await makeBucket({ objectLock: false })
    const store = openStore({ encryption: { mode: 'sse-kms', keyId: server.kmsKeyId } })
    for (const [Key, body] of [
      ['small', Buffer.from('small')],
      ['large', large],
    ] as const) {
      await store.put(Key, body)
      const head = await server.client.send(new HeadObjectCommand({ Bucket: bucket, Key }))
      expect(head.ServerSideEncryption).toBe('aws:kms')
      const read = (await store.get(Key, { maxBytes: body.length })) ?? Buffer.alloc(0)
      expect(body.equals(read)).toBe(true)
    }
    const unknown = openStore({ encryption: { mode: 'sse-kms', keyId: 'no-such-key' } })
    await expect(unknown.put('a', Buffer.from('a'))).rejects.toMatchObject({
      message: expect.stringContaining('the server cannot use the encryption key'),
    })
  })

  it('encrypts with SSE-S3, or the backup fails', async () => {
    await makeBucket({ objectLock: false })
    const { endpoint, credentials } = server
    await using started = await startBucketTrial({ endpoint, bucket, credentials })
    const { trial, env } = started
    const encryption = { mode: 'sse-s3' }
    env.DASHKEEP_CONFIG = await trial.write('l.yaml', {
      limits: shortLimits,
      store: { encryption },
    })
    const backup = await trial.run(['backup', '--json'], env)
    const { Versions = [] } = await server.client.send(
      new ListObjectVersionsCommand({ Bucket: bucket }),
    )
    const [{ Key } = {}] = Versions
    const head = await server.client.send(new HeadObjectCommand({ Bucket: bucket, Key }))
    // A Ceph without a vault takes the request with 200 and does not encrypt.
    if (head.ServerSideEncryption === 'AES256') expect(backup.exitCode).toBe(0)
    else {
      expect(backup.exitCode).toBe(1)
      const error = expect.stringContaining('accepts sse-s3 but reports none')
      expect(accountsOf(backup.stdout)).toMatchObject([{ error }])
    }
  })
})
