import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Fault } from './faults.ts'
import type { Reply } from './reply.ts'

/** How a reply is sent. */
interface SendOptions {
  readonly fault: Fault | undefined
  /** Time of the service, for the `Date` header. */
  readonly date: Date
  readonly gzip: boolean
  readonly contentLength: boolean
  /** Aborted when the connection closes. */
  readonly signal: AbortSignal
}

type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** Sends a reply with back-pressure, and applies the fault to its body. */
export async function sendReply(
  outgoing: ServerResponse,
  reply: Reply,
  options: SendOptions,
): Promise<void> {
  const { fault } = options
  const gzip = options.gzip && reply.streamed
  const trailing = Buffer.from(fault?.trailing ?? '')
  const known = !gzip && (options.contentLength || !reply.streamed)
  outgoing.writeHead(reply.status, {
    date: options.date.toUTCString(),
    ...reply.headers,
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    ...(known && reply.status !== 204
      ? { 'content-length': reply.body.length + trailing.length }
      : {}),
  })
  const plain = withTrailing(reply.body.chunks, trailing)
  const chunks = gzip ? compressed(plain) : plain
  const sent = await (fault?.atByte === undefined
    ? writeAll(outgoing, chunks)
    : writeDisturbed(outgoing, chunks, { ...options, fault, atByte: fault.atByte }))
  if (sent) outgoing.end()
}

/**
 * Applies the delay, hang or cut of a fault. Returns whether the connection is still open.
 */
export async function disturb(
  outgoing: ServerResponse,
  fault: Fault,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if (fault.delayMs !== undefined) await wait(fault.delayMs, undefined, { signal })
  } catch {
    return false
  }
  if (fault.hang && !signal.aborted) await once(signal, 'abort')
  if (fault.cut) cutConnection(outgoing)
  return !signal.aborted && !outgoing.destroyed
}

/** Closes the connection without sending anything more. */
export function cutConnection(outgoing: ServerResponse): void {
  outgoing.destroy()
}

function* withTrailing(chunks: Iterable<Uint8Array>, trailing: Uint8Array): Iterable<Uint8Array> {
  yield* chunks
  if (trailing.length > 0) yield trailing
}

function compressed(chunks: Iterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gzip = createGzip({ level: 1 })
  return pipeline(chunks, gzip, () => {}) as typeof gzip
}

/** Returns false when the connection closed before everything was written. */
async function writeAll(outgoing: ServerResponse, chunks: Chunks): Promise<boolean> {
  for await (const chunk of chunks) {
    if (!(await write(outgoing, chunk))) return false
  }
  return true
}

async function write(outgoing: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  if (outgoing.destroyed) return false
  if (outgoing.write(chunk)) return true
  return new Promise((resolve) => {
    const settle = () => {
      outgoing.off('drain', settle)
      outgoing.off('close', settle)
      resolve(!outgoing.destroyed)
    }
    outgoing.once('drain', settle)
    outgoing.once('close', settle)
  })
}

async function writeDisturbed(
  outgoing: ServerResponse,
  chunks: Chunks,
  { fault, atByte, signal }: SendOptions & { fault: Fault; atByte: number },
): Promise<boolean> {
  outgoing.flushHeaders()
  let left: number | undefined = atByte
  for await (const chunk of chunks) {
    if (left === undefined || chunk.length < left) {
      if (!(await write(outgoing, chunk))) return false
      if (left !== undefined) left -= chunk.length
      continue
    }
    await flush(outgoing, chunk.subarray(0, left))
    if (!(await disturb(outgoing, fault, signal))) return false
    if (!(await write(outgoing, chunk.subarray(left)))) return false
    left = undefined
  }
  if (left === undefined) return true
  await flush(outgoing, new Uint8Array())
  return disturb(outgoing, fault, signal)
}

/** Writes and waits until the bytes have left this process. */
async function flush(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    outgoing.write(bytes, () => resolve())
  })
}
