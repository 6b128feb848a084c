import { Readable } from 'node:stream'
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { collectBytes } from '../collect.ts'
import { startDeadline, timeIsUp } from '../deadline.ts'
import { ObjectTooLargeError, type StoreCallOptions } from '../object-store.ts'
import { type Call, type Connection, minBytesPerMs, type SendOptions } from './connection.ts'
import { BodyCutShort, UnexpectedAnswer, withoutError } from './errors.ts'

const readRights = 's3:GetObject and s3:ListBucket (without it what is missing looks forbidden)'

type ReadTarget = StoreCallOptions & { readonly key: string }

/** Reads a whole object; a body that breaks off is one more failure to repeat the request after. */
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

/** Reads an object as it arrives. A body that breaks off is asked for again, from where it ended. */
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
  // A server without ranges sends the whole object.
  if (size !== undefined) return { body, size, from: sent?.startsWith(`bytes ${from}-`) ? from : 0 }
  body.destroy()
  throw new UnexpectedAnswer('The answer does not say how long it is')
}

/**
 * Yields the body and checks its length. Each pause of the server has a limit, and so have all of
 * them together, by the length of the body. Otherwise a body sent in tiny pieces would never end.
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
      deadline.restart()
      waitsSince = performance.now()
    }
  } finally {
    body.destroy()
  }
  if (received !== size) throw new BodyCutShort(`it ended after ${received} of ${size} bytes`)
}
