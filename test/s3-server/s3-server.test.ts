import {
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { type S3Server, startS3Server } from './s3-server.ts'

const Bucket = 'backups'

function connect({ url, credentials }: S3Server): S3Client {
  const place = { endpoint: url, region: 'us-east-1', forcePathStyle: true }
  return new S3Client({ ...place, credentials, maxAttempts: 1 })
}

async function put(client: S3Client, ...keys: string[]): Promise<void> {
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
}

describe('the S3 server of the tests', () => {
  it('lists page by page, and folders by delimiter', async () => {
    await using server = await startS3Server()
    const client = connect(server)
    await put(client, 'a/1', 'a/2', 'b', 'c/1')
    const first = await client.send(
      new ListObjectsV2Command({ Bucket, Delimiter: '/', MaxKeys: 2 }),
    )
    expect(first.CommonPrefixes).toEqual([{ Prefix: 'a/' }])
    expect(first.Contents).toMatchObject([{ Key: 'b', Size: 1 }])
    const ContinuationToken = first.NextContinuationToken
    const second = await client.send(
      new ListObjectsV2Command({ Bucket, Delimiter: '/', ContinuationToken }),
    )
    expect(second.CommonPrefixes).toEqual([{ Prefix: 'c/' }])
    expect(second.IsTruncated).toBe(false)
    client.destroy()
  })

  it('deletes many objects at once', async () => {
    await using server = await startS3Server()
    const client = connect(server)
    await put(client, 'a&b', 'c', 'd')
    const Objects = [{ Key: 'a&b' }, { Key: 'd' }]
    await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect([...server.bucket.objects.keys()]).toEqual(['c'])
    client.destroy()
  })

  it('keeps metadata and tags, and lists its uploads', async () => {
    await using server = await startS3Server()
    const client = connect(server)
    const Metadata = { 'kibana-version': '9.2.0' }
    await client.send(
      new PutObjectCommand({ Bucket, Key: 'a', Body: 'x', Metadata, Tagging: 'b=c%20d' }),
    )
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: 'a' }))
    expect(head.Metadata).toEqual(Metadata)
    const tagging = await client.send(new GetObjectTaggingCommand({ Bucket, Key: 'a' }))
    expect(tagging.TagSet).toEqual([{ Key: 'b', Value: 'c d' }])
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'b' }))
    const listing = await client.send(new ListMultipartUploadsCommand({ Bucket }))
    expect(listing.Uploads).toMatchObject([{ Key: 'b', UploadId }])
    client.destroy()
  })

  it('keeps and extends locks, and can drop them', async () => {
    for (const ignores of [[], ['lock']] as const) {
      await using server = await startS3Server({ objectLock: true, ignores })
      const client = connect(server)
      const lock = {
        ObjectLockMode: 'GOVERNANCE',
        ObjectLockRetainUntilDate: new Date(5000),
      } as const
      await client.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'x', ...lock }))
      const extend = async (Mode: 'GOVERNANCE' | 'COMPLIANCE', until: number) => {
        const Retention = { Mode, RetainUntilDate: new Date(until) }
        await client.send(new PutObjectRetentionCommand({ Bucket, Key: 'a', Retention }))
        return server.bucket.objects.get('a')?.retention
      }
      const kept = ignores.length === 0 ? { mode: 'GOVERNANCE', until: new Date(9000) } : undefined
      expect(await extend('GOVERNANCE', 9000)).toEqual(kept)
      const read = client.send(new GetObjectRetentionCommand({ Bucket, Key: 'a' }))
      if (kept === undefined) await expect(read).rejects.toThrow('NoSuchObjectLockConfiguration')
      else {
        expect((await read).Retention).toEqual({ Mode: kept.mode, RetainUntilDate: kept.until })
        await expect(extend('GOVERNANCE', 8000)).rejects.toThrow('AccessDenied')
        await expect(extend('COMPLIANCE', 9000)).rejects.toThrow('AccessDenied')
      }
      client.destroy()
    }
  })

  it('flips a byte of a request or an answer, and drops what it confirmed', async () => {
    await using server = await startS3Server()
    const client = connect(server)
    const read = async (Key: string) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }))
      return await Body?.transformToString()
    }
    server.inject({ operation: 'PutObject', kind: 'flip-byte', afterBytes: 0 })
    await put(client, 'abc', 'def')
    expect(await read('abc')).toBe('`bc')
    server.inject({ operation: 'GetObject', kind: 'flip-byte', afterBytes: 2 })
    expect([await read('def'), await read('def')]).toEqual(['deg', 'def'])
    server.inject({ operation: 'PutObject', kind: 'pretend' })
    await put(client, 'lost')
    expect([...server.bucket.objects.keys()]).toEqual(['abc', 'def'])
    client.destroy()
  })
})
