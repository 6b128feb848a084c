import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { collectBytes } from '../collect.ts'
import { startDeadline, timeIsUp } from '../deadline.ts'
import { StoreError } from '../errors.ts'
import { checkKey, compareKeys, isKey } from '../keys.ts'
import {
  type ObjectStore,
  ObjectTooLargeError,
  type StoreCallOptions,
  type StoredObject,
} from '../object-store.ts'
import { examineBucket } from './bucket.ts'
import {
  connectToBucket,
  minBytesPerMs,
  type S3Call,
  type S3Connection,
  type S3StoreOptions,
  type SendOptions,
} from './connection.ts'
import { BodyCutShort, UnexpectedAnswer, withoutError } from './errors.ts'
import { extendLock, readBucketLock, readLockEnd } from './lock.ts'
import { putObject } from './upload.ts'
import { listUploads } from './uploads.ts'
import { createS3Writer, partBytes } from './writer.ts'

/**
 * Keeps objects in a bucket of an S3 server.
 *
 * Writing an existing key replaces the object in one step, or adds a version where the bucket keeps
 * versions: servers that refuse to replace do not do so reliably. Requests are repeated while
 * failures are transient; each of them may be, also when only its answer was lost.
 *
 * Where the bucket keeps versions, which Object Lock needs, removing hides the object behind a
 * delete marker; its bytes stay until a lifecycle rule (NoncurrentVersionExpiration) removes old
 * versions, for which a lock that is not over is in the way.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = connectToBucket(options)
  const checked = (key: string): string => {
    checkKey(connection.fullKey(key))
    return key
  }

  let locksObjects: boolean | undefined

  const store: ObjectStore = {
    url: connection.url,

    async put(key, body, { signal, lockFrom, metadata = {} } = {}) {
      signal?.throwIfAborted()
      if (body.length <= partBytes) {
        await putObject(connection, { key: checked(key), signal, lockFrom }, body, metadata)
        return
      }
      await using writer = await store.create(key, { signal, lockFrom, metadata: () => metadata })
      await writer.write(body)
      await writer.commit()
    },

    async create(key, { signal, lockFrom, metadata = () => ({}) } = {}) {
      signal?.throwIfAborted()
      return createS3Writer(connection, checked(key), { signal, metadata, lockFrom })
    },

    async get(key, { signal, maxBytes }) {
      signal?.throwIfAborted()
      return await getObject(connection, { key: checked(key), signal }, maxBytes)
    },

    async open(key, { signal } = {}) {
      signal?.throwIfAborted()
      return await openObject(connection, { key: checked(key), signal })
    },

    async *list(prefix, { startAfter, signal } = {}) {
      yield* listObjects(connection, prefix, { startAfter: startAfter || undefined, signal })
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted()
      const command = new DeleteObjectCommand({
        Bucket: connection.bucket,
        Key: connection.fullKey(checked(key)),
      })
      await connection.call(
        { action: 'remove', key, signal, rights: 's3:DeleteObject' },
        (client, sendOptions) =>
          client.send(command, sendOptions).catch(withoutError(['NoSuchKey'])),
      )
    },

    async protect(key, { signal, lockFrom }) {
      signal?.throwIfAborted()
      return await extendLock(connection, { key: checked(key), signal }, lockFrom)
    },

    async lockedUntil(key, { signal } = {}) {
      signal?.throwIfAborted()
      const target = { key: checked(key), signal }
      locksObjects ??= (await readBucketLock(connection, { signal })) !== undefined
      return locksObjects ? await readLockEnd(connection, target) : undefined
    },

    async *examine(options = {}) {
      yield* examineBucket(connection, options)
    },

    async *listUnfinished(options = {}) {
      yield* listUploads(connection, options)
    },

    async close() {
      connection.close()
    },
  }
  return store
}

const readRights = 's3:GetObject and s3:ListBucket (without it what is missing looks forbidden)'

type ReadTarget = StoreCallOptions & { readonly key: string }

/** Reads a whole object; a body that breaks off is one more failure to repeat the request after. */
async function getObject(
  connection: S3Connection,
  { key, signal }: ReadTarget,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const call: S3Call = { action: 'read', key, signal, rights: readRights }
  return await connection.call(call, async (client, options) => {
    const arriving = await requestObject(connection, key, client, options)
    if (arriving === undefined) return undefined
    const { body, size } = arriving
    if (size > maxBytes) {
      body.destroy()
      throw new ObjectTooLargeError(
        `Cannot read ${connection.url}/${key}: it has ${size} bytes, more than ${maxBytes}`,
      )
    }
    return await collectBytes(readBody(connection, arriving, options.abortSignal))
  })
}

/** Reads an object as it arrives. A body that breaks off is asked for again, from where it ended. */
async function openObject(
  connection: S3Connection,
  { key, signal }: ReadTarget,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const call: S3Call = { action: 'read', key, signal, rights: readRights }
  const request = (from: number) =>
    connection.call(call, (client, options) =>
      requestObject(connection, key, client, { ...options, from }),
    )
  const arriving = await request(0)
  return arriving && readOn(connection, call, arriving, request)
}

async function* readOn(
  connection: S3Connection,
  call: S3Call,
  first: ArrivingObject,
  request: (from: number) => Promise<ArrivingObject | undefined>,
): AsyncGenerator<Uint8Array> {
  const failures = connection.watchFailures(call)
  let arriving: ArrivingObject | undefined = first
  let received = 0
  for (;;) {
    try {
      for await (const chunk of readBody(connection, arriving, call.signal)) {
        received += chunk.length
        yield chunk
      }
      return
    } catch (error) {
      const mayGoOn = received < first.size && failures.mayRepeat(error)
      arriving = mayGoOn ? await request(received) : undefined
      if (arriving?.from !== received) {
        arriving?.body.destroy()
        throw connection.explain(error, call)
      }
    }
  }
}

/** An object whose bytes are on their way. */
interface ArrivingObject {
  readonly body: Readable
  /** Bytes of the body. */
  readonly size: number
  /** Where the body begins in the object. */
  readonly from: number
}

async function requestObject(
  { bucket, fullKey }: S3Connection,
  key: string,
  client: S3Client,
  { from = 0, ...options }: SendOptions & { from?: number },
): Promise<ArrivingObject | undefined> {
  const range = from > 0 && { Range: `bytes=${from}-` }
  const command = new GetObjectCommand({ Bucket: bucket, Key: fullKey(key), ...range })
  const answer = await client.send(command, options).catch(withoutError(['NoSuchKey']))
  if (answer === undefined) return undefined
  const { Body: body, ContentLength: size, ContentRange: sent } = answer
  if (!(body instanceof Readable)) throw new UnexpectedAnswer('The answer has no body')
  // A server without ranges sends the whole object.
  if (size !== undefined) return { body, size, from: sent?.startsWith(`bytes ${from}-`) ? from : 0 }
  body.destroy()
  throw new UnexpectedAnswer('The answer does not say how long it is')
}

/**
 * Yields the body and checks its length. Each pause of the server has a limit, and so have all of
 * them together, by the length of the body: one that comes drop by drop would never end.
 */
async function* readBody(
  { idleTimeoutMs }: S3Connection,
  { body, size }: ArrivingObject,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  using deadline = startDeadline(idleTimeoutMs, signal)
  const stop = () => body.destroy(deadline.signal.reason)
  deadline.signal.addEventListener('abort', stop, { once: true })
  if (deadline.signal.aborted) stop()
  let leftMs = idleTimeoutMs + size / minBytesPerMs
  let waitsSince = performance.now()
  let received = 0
  try {
    for await (const chunk of body) {
      deadline.pause()
      leftMs -= performance.now() - waitsSince
      if (leftMs < 0) throw timeIsUp()
      received += chunk.length
      yield chunk
      deadline.restart()
      waitsSince = performance.now()
    }
  } finally {
    body.destroy()
  }
  if (received !== size) throw new BodyCutShort(`it ended after ${received} of ${size} bytes`)
}

async function* listObjects(
  connection: S3Connection,
  prefix: string,
  { startAfter, signal }: StoreCallOptions & { startAfter: string | undefined },
): AsyncGenerator<StoredObject> {
  let last = startAfter
  let token: string | undefined
  for (;;) {
    const page = await fetchPage(connection, prefix, { token, startAfter: last, signal })
    for (const object of page.objects) {
      if (startAfter !== undefined && compareKeys(object.key, startAfter) <= 0) continue
      if (last !== undefined && compareKeys(object.key, last) <= 0) throw disordered(connection)
      last = object.key
      if (isKey(object.key)) yield object
    }
    if (!page.isTruncated) return
    const makesProgress = page.token === undefined ? page.objects.length > 0 : page.token !== token
    if (!makesProgress) throw disordered(connection)
    token = page.token
  }
}

interface Page {
  readonly objects: StoredObject[]
  readonly isTruncated: boolean
  readonly token: string | undefined
}

async function fetchPage(
  connection: S3Connection,
  prefix: string,
  position: StoreCallOptions & { token: string | undefined; startAfter: string | undefined },
): Promise<Page> {
  const { token, startAfter, signal } = position
  const command = new ListObjectsV2Command({
    Bucket: connection.bucket,
    Prefix: connection.fullKey(prefix),
    ...(token !== undefined && { ContinuationToken: token }),
    ...(token === undefined &&
      startAfter !== undefined && { StartAfter: connection.fullKey(startAfter) }),
  })
  return await connection.call(
    { action: 'list', signal, rights: 's3:ListBucket' },
    async (client, options) => readPage(connection, await client.send(command, options)),
  )
}

/** Refuses what is no listing: an HTML page under status 200 would read as an empty bucket. */
function readPage({ fullKey }: S3Connection, answer: ListObjectsV2CommandOutput): Page {
  if (answer.IsTruncated === undefined) throw new UnexpectedAnswer('The answer is no listing')
  const objects = (answer.Contents ?? []).map(({ Key, Size, LastModified }) => {
    if (Key === undefined || Size === undefined || LastModified === undefined) {
      throw new UnexpectedAnswer('The listing lacks a key, a size or a date')
    }
    return { key: Key.slice(fullKey('').length), size: Size, modifiedAt: LastModified }
  })
  return { objects, isTruncated: answer.IsTruncated, token: answer.NextContinuationToken }
}

function disordered({ url }: S3Connection): StoreError {
  return new StoreError(`Cannot list ${url}: the server does not list in the order of keys`, {
    hint: 'Use a general-purpose bucket: some kinds of bucket have no order',
  })
}
