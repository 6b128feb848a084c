import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { collectBytes } from '../collect.ts'
import { startDeadline, timeIsUp } from '../deadline.ts'
import { ObjectTooLargeError, type StoreCallOptions } from '../object-store.ts'
import { type Call, type Connection, minBytesPerMs, type SendOptions } from './connection.ts'
import { BodyCutShort, UnexpectedAnswer, withoutError } from './errors.ts'

const readRights =
  's3:GetObject and s3:ListBucket (without it, the server reports a missing object as forbidden)'

/**
 * Bytes of a body that are read as fast as they come. After that, the event loop runs between two chunks:
 * Node would read the socket up to 32 times in a turn, and free none of the chunks meanwhile.
 */
const MAX_GREEDY_BYTES = 8 * 1024 * 1024

type ReadTarget = StoreCallOptions & { readonly key: string }

/** Reads a whole object. Repeats the request after an incomplete body. */
export async function getObject(
  connection: Connection,
  { key, signal }: ReadTarget,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const call: Call = { action: 'read', key, signal, rights: readRights }
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

/** Reads an object as it arrives. After an incomplete body, requests the rest. */
export async function openObject(
  connection: Connection,
  { key, signal }: ReadTarget,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const call: Call = { action: 'read', key, signal, rights: readRights }
  const request = (from: number) =>
    connection.call(call, (client, options) =>
      requestObject(connection, key, client, { ...options, from }),
    )
  const arriving = await request(0)
  return arriving && readOn(connection, call, arriving, request)
}

async function* readOn(
  connection: Connection,
  call: Call,
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
      if (arriving?.from !== received || received + arriving.size !== first.size) {
        arriving?.body.destroy()
        throw connection.explain(error, call)
      }
    }
  }
}

/** The answer to a read request. */
interface ArrivingObject {
  readonly body: Readable
  /** Size of the body in bytes. */
  readonly size: number
  /** Byte offset of the body in the object. */
  readonly from: number
}

async function requestObject(
  { bucket, fullKey }: Connection,
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
  // A server without range support sends the whole object.
  if (size !== undefined) return { body, size, from: sent?.startsWith(`bytes ${from}-`) ? from : 0 }
  body.destroy()
  throw new UnexpectedAnswer('The answer has no length')
}

/**
 * Yields the body and checks its length. Limits each pause of the server, and by the length of the body
 * also the sum of all pauses. Otherwise a body in many small chunks could take forever.
 */
async function* readBody(
  { idleTimeoutMs }: Connection,
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
      if (received > MAX_GREEDY_BYTES) await setImmediate()
      deadline.restart()
      waitsSince = performance.now()
    }
  } finally {
    body.destroy()
  }
  if (received !== size) throw new BodyCutShort(`it ended after ${received} of ${size} bytes`)
}
