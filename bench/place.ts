import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { createS3Store } from '../src/store/s3/store.ts'

/** Where commands store data: a folder or a bucket. Disposing removes it. */
export interface Place extends AsyncDisposable {
  readonly name: 'folder' | 'S3'
  /** Creates an empty spot for one run. */
  makeSpot(): Promise<Spot>
}

/** The spot of one run. Disposing empties it. */
export interface Spot extends AsyncDisposable {
  /** `TARGET`, and the same address in the formats of dashkeep and restic. */
  readonly env: Readonly<Record<string, string>>
  put(key: string, body: Uint8Array): Promise<void>
  get(key: string): Promise<unknown>
  /** Total bytes of the stored files. */
  storedBytes(): Promise<number>
}

/** Creates a folder in the machine's temporary folder. */
export async function makeFolderPlace(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'dashkeep-bench-'))
  return {
    name: 'folder',
    makeSpot: () => makeFolder(join(root, randomUUID())),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  }
}

async function makeFolder(folder: string): Promise<Spot> {
  await mkdir(folder)
  return {
    env: {
      TARGET: folder,
      DASHKEEP_STORE: pathToFileURL(folder).href,
      RESTIC_REPOSITORY: folder,
    },
    async put(key, body) {
      const path = join(folder, key)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, body)
    },
    get: (key) => readFile(join(folder, key)),
    async storedBytes() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      const sizes = files.map(
        async ({ parentPath, name }) => (await stat(join(parentPath, name))).size,
      )
      return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}

/** Creates a bucket on the server in `DASHKEEP_BENCH_S3_ENDPOINT`, with the usual credentials. */
export async function makeBucketPlace(endpoint: string): Promise<Place> {
  const region = process.env.AWS_REGION ?? 'us-east-1'
  const client = new S3Client({ endpoint, region, forcePathStyle: true })
  const bucket = `dashkeep-bench-${randomUUID()}`
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  return {
    name: 'S3',
    makeSpot: async () => makePrefix(client, { endpoint, region, bucket, prefix: randomUUID() }),
    async [Symbol.asyncDispose]() {
      await client.send(new DeleteBucketCommand({ Bucket: bucket }))
      client.destroy()
    },
  }
}

function makePrefix(
  client: S3Client,
  at: { endpoint: string; region: string; bucket: string; prefix: string },
): Spot {
  const { endpoint, region, bucket, prefix } = at
  const store = createS3Store({ ...at, env: process.env })
  return {
    env: {
      TARGET: `s3://${bucket}/${prefix}`,
      DASHKEEP_STORE: `s3://${bucket}/${prefix}`,
      RESTIC_REPOSITORY: `s3:${endpoint}/${bucket}/${prefix}`,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: region,
      AWS_DEFAULT_REGION: region,
    },
    put: (key, body) => store.put(key, body),
    get: (key) => store.get(key, { maxBytes: Number.POSITIVE_INFINITY }),
    async storedBytes() {
      let sum = 0
      for await (const { size } of store.list('')) sum += size
      return sum
    },
    async [Symbol.asyncDispose]() {
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${prefix}/` })
      for await (const { Contents: found = [] } of pages) {
        const Objects = found.map(({ Key }) => ({ Key }))
        if (found.length > 0)
          await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }))
      }
      await store.close()
    },
  }
}
