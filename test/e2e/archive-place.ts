import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { findRealS3Server } from '../s3-server/ceph.ts'
import { readTree } from './trial.ts'

/** Where a test keeps an archive, and a way to look into it that is not dashkeep's. */
export interface ArchivePlace extends AsyncDisposable {
  /** Variables that name it to dashkeep. */
  readonly env: Readonly<Record<string, string>>
  /** Every key, sorted. */
  keys(): Promise<string[]>
  open(key: string): Promise<Readable>
}

/** A folder of one's own. */
export async function makeFolderPlace(
  parent = tmpdir(),
): Promise<ArchivePlace & { readonly folder: string }> {
  const folder = await mkdtemp(join(parent, 'dashkeep-archive-'))
  return {
    folder,
    env: { DASHKEEP_STORE: pathToFileURL(folder).href },
    keys: async () => [...(await readTree(folder)).keys()].sort(),
    open: async (key) => createReadStream(join(folder, key)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Part of a bucket of one's own on a real S3 server. Throws when there is none to be had. */
export async function makeBucketPlace(): Promise<ArchivePlace> {
  const start = findRealS3Server()
  if (start === undefined) throw new Error('there is no real S3 server')
  const server = await start()
  const { endpoint, credentials } = server
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true })
  const Bucket = `dashkeep-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket }))
  const prefix = 'kept/here/'
  async function keys(): Promise<string[]> {
    const found: string[] = []
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
      for (const { Key = '' } of Contents) found.push(Key.slice(prefix.length))
    }
    return found.sort()
  }
  return {
    env: {
      DASHKEEP_STORE: `s3://${Bucket}/${prefix}`,
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    keys,
    async open(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + key }))
      return Body as Readable
    },
    async [Symbol.asyncDispose]() {
      for (const key of await keys()) {
        await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + key }))
      }
      await client.send(new DeleteBucketCommand({ Bucket }))
      client.destroy()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** What tells bytes apart that are too many to hold. */
export interface Fingerprint {
  readonly bytes: number
  readonly sha256: string
}

export async function fingerprint(chunks: AsyncIterable<Uint8Array>): Promise<Fingerprint> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/**
 * What a stored file holds, once decompressed by the program `zstd`, which must accept it. Node's stream
 * ends too early when a chunk ends within the checksum of a frame, its last four bytes.
 */
export async function storedContent(place: ArchivePlace, key: string): Promise<Fingerprint> {
  const zstd = spawn('zstd', ['--decompress', '--stdout'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [content, [exitCode]] = await Promise.all([
    fingerprint(zstd.stdout),
    once(zstd, 'close'),
    pipeline(await place.open(key), zstd.stdin),
  ])
  if (exitCode !== 0) throw new Error(`zstd refuses ${key}: exit code ${exitCode}`)
  return content
}

/** What the service sends for one type, asked for without dashkeep. */
export async function sentContent(
  { url }: { url: string },
  { token, type }: { token: string; type: string },
): Promise<Fingerprint> {
  const response = await fetch(`${url}/kibana/export`, {
    method: 'POST',
    headers: { 'X-API-TOKEN': token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ type }),
  })
  if (!response.ok || response.body === null)
    throw new Error(`export of ${type}: ${response.status}`)
  return fingerprint(response.body)
}
