import { randomBytes, randomUUID } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { ObjectStore } from '../../../src/store/object-store.ts'
import type { S3StoreOptions } from '../../../src/store/s3/options.ts'
import { createS3Store } from '../../../src/store/s3/store.ts'
import { collect } from '../../contract/collect.ts'
import { describeObjectStore } from '../../contract/object-store.ts'
import { startBucketTrial } from '../../e2e/bucket-trial.ts'
import { shopId, shortLimits } from '../../e2e/trial.ts'
import { leaveOut } from '../../left-out.ts'
import {
  findRealS3Server,
  type RealS3Server,
  serverKind,
  withRealS3Server,
} from '../../s3-server/ceph.ts'

const start = findRealS3Server()
const { name: kind, can } = serverKind()
/** Swift takes a while for a thousand objects. */
const timeout = 300_000
if (start === undefined) leaveOut('a real S3 server (Ceph)', withRealS3Server)

describe.skipIf(start === undefined)('a real S3 server', { timeout }, () => {
  const bucket = `dashkeep-${randomUUID()}`
  let server: RealS3Server

  beforeAll(async () => {
    if (start === undefined) return
    server = await start()
    await server.client.send(new CreateBucketCommand({ Bucket: bucket }))
  }, 600_000)

  afterAll(async () => {
    await emptyBucket()
    await server.client.send(new DeleteBucketCommand({ Bucket: bucket }))
    await server[Symbol.asyncDispose]()
  }, timeout)

  afterEach(() => {
    vi.unstubAllEnvs()
  })

  function openStore(options: Partial<S3StoreOptions> = {}): ObjectStore {
    const { endpoint, credentials } = server
    return createS3Store({ endpoint, credentials, bucket, ...options })
  }

  async function emptyBucket(): Promise<void> {
    const store = openStore()
    const keys = (await collect(store.list(''))).map(({ key }) => key)
    for (let from = 0; from < keys.length; from += 16) {
      await Promise.all(keys.slice(from, from + 16).map((key) => store.remove(key)))
    }
    await store.close()
  }

  async function listUploads(prefix: string): Promise<{ Key: string; UploadId: string }[]> {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix })
    const { Uploads = [] } = await server.client.send(command)
    return Uploads.map(({ Key = '', UploadId = '' }) => ({ Key, UploadId }))
  }

  describeObjectStore(kind, async () => {
    const prefix = randomUUID()
    return {
      store: openStore({ prefix }),
      async readMetadata(key) {
        const command = new HeadObjectCommand({ Bucket: bucket, Key: `${prefix}/${key}` })
        const { Metadata = {} } = await server.client.send(command)
        return Object.fromEntries(
          Object.entries(Metadata).map(([name, value]) => [name, decodeURIComponent(value)]),
        )
      },
      findLeftovers: async () => (await listUploads(prefix)).map(({ UploadId }) => UploadId),
      async [Symbol.asyncDispose]() {},
    }
  })

  describe('supports what the table in docs/s3.md lists', () => {
    if (can.tags)
      it('keeps tags of small and of large objects', async () => {
        const prefix = randomUUID()
        const store = openStore({ prefix, tagging: true })
        const metadata = { type: 'search & more', 'account-id': '12345' }
        await store.put('small', Buffer.from('x'), { metadata })
        await store.put('large', Buffer.alloc(9_000_000), { metadata })
        for (const key of ['small', 'large']) {
          const command = new GetObjectTaggingCommand({ Bucket: bucket, Key: `${prefix}/${key}` })
          const { TagSet = [] } = await server.client.send(command)
          const tags = Object.fromEntries(TagSet.map(({ Key, Value }) => [Key, Value]))
          expect(tags).toEqual({ type: 'search _ more', 'account-id': '12345' })
        }
        await store.close()
      })
    else
      it('refuses tags with a hint', async () => {
        const store = openStore({ prefix: randomUUID(), tagging: true })
        const writing = store.put('a', Buffer.from('x'), { metadata: { type: 'search' } })
        await expect(writing).rejects.toMatchObject({
          kind: 'usage',
          hint: 'remove store.tags from the configuration, or use a server that supports it',
        })
        await store.close()
      })

    if (!can.objectLock)
      it('refuses a lock and stores nothing', async () => {
        const store = openStore({
          prefix: randomUUID(),
          lock: { mode: 'governance', durationMs: 60_000 },
        })
        const body = Buffer.from('bytes of the archive')
        await expect(store.put('a', body, { lockFrom: new Date() })).rejects.toMatchObject({
          kind: 'usage',
          message: expect.stringMatching(
            /^Cannot ask for the lock of .*: the server has no Object Lock$/,
          ),
          hint: expect.stringContaining('store.lock'),
        })
        expect(await store.get('a', { maxBytes: 100 })).toEqual(body)
        expect(await store.lockedUntil?.('a')).toBeUndefined()
        await store.close()
      })

    if (!can.serverEncryption)
      it('refuses encryption with an error', async () => {
        const store = openStore({ prefix: randomUUID(), encryption: { mode: 'sse-s3' } })
        await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject({
          kind: 'usage',
          hint: expect.stringContaining('store.encryption'),
        })
        await store.close()
      })

    it('accepts checksums', async () => {
      const store = openStore({ prefix: randomUUID(), checksums: true })
      const body = randomBytes(9_000_000)
      await store.put('large', body)
      const read = await store.get('large', { maxBytes: body.length })
      expect(body.equals(read ?? Buffer.alloc(0))).toBe(true)
      await store.close()
    })

    it('reports a missing bucket and wrong keys', async () => {
      const { accessKeyId, secretAccessKey } = server.credentials
      const cases = [
        [{ bucket: `no-${randomUUID()}` }, 'does not exist'],
        [
          { credentials: { accessKeyId: 'nobody', secretAccessKey } },
          can.knowsKeys ? 'does not know the access key' : 'the secret key does not belong',
        ],
        [
          { credentials: { accessKeyId, secretAccessKey: 'wrong-secret' } },
          'the secret key does not belong to the access key',
        ],
      ] as const
      for (const [options, state] of cases) {
        const store = openStore(options)
        const refused = { kind: 'usage', message: expect.stringContaining(state) }
        await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject(refused)
        await expect(store.get('a', { maxBytes: 1 })).rejects.toMatchObject(refused)
        await expect(collect(store.list(''))).rejects.toMatchObject(refused)
        await store.close()
      }
    })

    it('fails without an object when another client has ended the upload', async () => {
      const prefix = randomUUID()
      const store = openStore({ prefix })
      {
        await using writer = await store.create('a')
        await writer.write(Buffer.alloc(17_000_000))
        for (const { Key, UploadId } of await listUploads(prefix)) {
          await server.client.send(
            new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }),
          )
        }
        await expect(writer.commit()).rejects.toThrow('another client ended the upload')
      }
      expect(await collect(store.list(''))).toEqual([])
      await store.close()
    })
  })

  it('can hold an archive: doctor, backup, list, verify and prune', async () => {
    const { endpoint, credentials } = server
    await using started = await startBucketTrial({ endpoint, bucket, credentials })
    const { trial, env } = started
    env.DASHKEEP_CONFIG = await trial.write('limits.yaml', { limits: shortLimits })
    const day = (number: number) => new Date(Date.UTC(2026, 10, number))
    const run = (number: number, ...args: string[]) => trial.runAt(day(number), args, env)
    const doctor = await run(1, 'doctor')
    expect(doctor.stdout).not.toMatch(/^failed/m)
    expect(doctor.exitCode).toBe(0)
    const document = Buffer.from(trial.sandbox.objects(shopId, 'search')).toString()
    for (const [number, title] of ['Slow', 'Slower', 'Slowest'].entries()) {
      trial.sandbox.setObjects(shopId, 'search', document.replace('Slow', title))
      expect((await run(number + 1, 'backup')).exitCode).toBe(0)
    }
    const prune = await run(9, 'prune', '--keep-last', '1', '--yes', '--json')
    expect(JSON.parse(prune.stdout)).toMatchObject({ removed: 2, failed: [], locked: [] })
    expect(prune.exitCode).toBe(0)
    const store = openStore({ prefix: 'kept/here' })
    expect(await collect(store.list(''))).toHaveLength(4)
    await store.close()
    expect((await run(9, 'verify')).exitCode).toBe(0)
  })
})
