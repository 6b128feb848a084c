import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import { collectBytes } from './collect.ts'
import { startDeadline } from './deadline.ts'
import { StoreError } from './errors.ts'
import { checkKey, compareKeys, isKey } from './keys.ts'
import type { ObjectStore, StoreCallOptions, StoredObject } from './object-store.ts'
import {
  connectToBucket,
  type S3Call,
  type S3Connection,
  type S3StoreOptions,
} from './s3-connection.ts'
import { BodyCutShort, UnexpectedAnswer } from './s3-errors.ts'
import { putObject } from './s3-upload.ts'
import { createS3Writer, partBytes } from './s3-writer.ts'

/**
 * Keeps objects in a bucket of an S3 server.
 *
 * Writing an existing key replaces the object in one step, or adds a version where the bucket keeps
 * versions: servers that refuse to replace do not do so reliably. Requests are repeated while
 * failures are transient; each of them may be, also when only its answer was lost.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = connectToBucket(options)
  const checked = (key: string): string => {
    checkKey(connection.fullKey(key))
    return key
  }

  const store: ObjectStore = {
    url: connection.url,

    async put(key, body, { signal, metadata = {} } = {}) {
      signal?.throwIfAborted()
      if (body.length <= partBytes) {
        await putObject(connection, { key: checked(key), signal }, body, metadata)
        return
      }
      await using writer = await store.create(key, { signal, metadata: () => metadata })
      await writer.write(body)
      await writer.commit()
    },

    async create(key, { signal, metadata = () => ({}) } = {}) {
      signal?.throwIfAborted()
      return createS3Writer(connection, checked(key), { signal, metadata })
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
      await connection.call({ action: 'remove', key, signal }, (client, sendOptions) =>
        client.send(command, sendOptions).catch(absentAs(undefined)),
      )
    },

    async close() {
      connection.close()
    },
  }
  return store
}

type ReadTarget = StoreCallOptions & { readonly key: string }

/** Reads a whole object; a body that breaks off is one more failure to repeat the request after. */
async function getObject(
  connection: S3Connection,
  { key, signal }: ReadTarget,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const call: S3Call = { action: 'read', key, signal }
  return await connection.call(call, async (client, options) => {
    const answer = await client
      .send(getCommand(connection, key), options)
      .catch(absentAs(undefined))
    if (answer === undefined) return undefined
    const size = answer.ContentLength
    if (size === undefined || size > maxBytes) {
      bodyOf(answer).destroy()
      throw new StoreError(
        `Cannot read ${connection.url}/${key}: it has ${size ?? 'an unknown number of'} bytes, ` +
          `more than ${maxBytes}`,
      )
    }
    return await collectBytes(readBody(connection, answer, options.abortSignal))
  })
}

/** Reads an object as it arrives; what breaks off while the caller reads is for the caller. */
async function openObject(
  connection: S3Connection,
  { key, signal }: ReadTarget,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const call: S3Call = { action: 'read', key, signal }
  const answer = await connection.call(call, (client, options) =>
    client.send(getCommand(connection, key), options).catch(absentAs(undefined)),
  )
  return answer && explainedBody(connection, answer, call)
}

async function* explainedBody(
  connection: S3Connection,
  answer: GetObjectCommandOutput,
  call: S3Call,
): AsyncGenerator<Uint8Array> {
  try {
    yield* readBody(connection, answer, call.signal)
  } catch (error) {
    throw connection.explain(error, call)
  }
}

/** Yields the body, with a deadline for each pause of the server, and checks its length. */
async function* readBody(
  { idleTimeoutMs }: S3Connection,
  answer: GetObjectCommandOutput,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const body = bodyOf(answer)
  using deadline = startDeadline(idleTimeoutMs, signal)
  const stop = () => body.destroy(deadline.signal.reason)
  deadline.signal.addEventListener('abort', stop, { once: true })
  if (deadline.signal.aborted) stop()
  let received = 0
  try {
    for await (const chunk of body) {
      deadline.pause()
      received += chunk.length
      yield chunk
      deadline.restart()
    }
  } finally {
    body.destroy()
  }
  if (answer.ContentLength !== undefined && received !== answer.ContentLength) {
    throw new BodyCutShort(`it ended after ${received} of ${answer.ContentLength} bytes`)
  }
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
  return await connection.call({ action: 'list', signal }, async (client, options) =>
    readPage(connection, await client.send(command, options)),
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

function getCommand({ bucket, fullKey }: S3Connection, key: string): GetObjectCommand {
  return new GetObjectCommand({ Bucket: bucket, Key: fullKey(key) })
}

function bodyOf({ Body }: GetObjectCommandOutput): Readable {
  if (!(Body instanceof Readable)) throw new UnexpectedAnswer('The answer has no body')
  return Body
}

/** Turns the failure "no such key" into a value, and passes all others on. */
function absentAs<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && error.name === 'NoSuchKey') return value
    throw error
  }
}
