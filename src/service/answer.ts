import type { z } from 'zod'
import { tryParseJson } from '../parse-json.ts'
import {
  type Explaining,
  hiddenRefusal,
  notJson,
  onlyPart,
  type Reply,
  refusalOf,
  regionsIn,
  wrongShape,
} from './refusal.ts'
import { exportSchema } from './schema.ts'
import { shapeProblem } from './shape-problem.ts'
import type { Answer } from './transport.ts'

/** Returns a function that reads a whole answer. It throws for a refusal and for another form. */
export function readAs<T>(
  schema: z.ZodType<T>,
): (answer: Answer, explaining: Explaining) => Promise<T> {
  return async (answer, explaining) => {
    await throwIfRefused(answer, explaining)
    const { chunks } = await gather(answer, Number.POSITIVE_INFINITY)
    return checked(replyOf(answer, chunks), schema, explaining)
  }
}

/** Reads an answer of any content. Throws only for a refusal or a web page. */
export async function readAcknowledgement(answer: Answer, explaining: Explaining): Promise<void> {
  await throwIfRefused(answer, explaining)
  const { chunks } = await gather(answer, Number.POSITIVE_INFINITY)
  const reply = replyOf(answer, chunks)
  const refusal = hiddenRefusal(reply, explaining)
  if (refusal) throw refusal
  if (reply.text.trimStart().startsWith('<')) throw notJson(reply, explaining)
}

/**
 * Reads the first 64 KiB of an export, checks them, and returns the whole export unchanged. A shorter
 * body is checked completely, so that no refusal counts as an export. Of a longer body only the first
 * character is checked.
 */
export async function readExport(
  answer: Answer,
  explaining: Explaining,
): Promise<AsyncIterable<Uint8Array>> {
  await throwIfRefused(answer, explaining)
  const { chunks, ended } = await gather(answer, startBytes)
  const reply = replyOf(answer, chunks)
  if (reply.status === 206) {
    await answer.body.return()
    throw onlyPart(explaining)
  }
  if (ended) {
    checked(reply, exportSchema, explaining)
  } else if (!/^\s*\{/.test(reply.text)) {
    await answer.body.return()
    throw regionsIn(reply.text) ? refusalOf(reply, explaining) : notJson(reply, explaining)
  }
  return joined(chunks, answer.body)
}

const startBytes = 64 * 1024

async function throwIfRefused(answer: Answer, explaining: Explaining): Promise<void> {
  if (answer.status >= 200 && answer.status < 300) return
  const { chunks } = await gather(answer, startBytes)
  await answer.body.return()
  throw refusalOf(replyOf(answer, chunks), explaining)
}

async function gather(
  { body }: Answer,
  wantedBytes: number,
): Promise<{ chunks: Uint8Array[]; ended: boolean }> {
  const chunks: Uint8Array[] = []
  for (let bytes = 0; bytes < wantedBytes; ) {
    const next = await body.next()
    if (next.done) return { chunks, ended: true }
    chunks.push(next.value)
    bytes += next.value.byteLength
  }
  return { chunks, ended: false }
}

function replyOf(answer: Answer, chunks: readonly Uint8Array[]): Reply {
  const text = Buffer.concat(chunks).toString()
  return { status: answer.status, header: answer.header, text, json: tryParseJson(text) }
}

function checked<T>(reply: Reply, schema: z.ZodType<T>, explaining: Explaining): T {
  const refusal = hiddenRefusal(reply, explaining)
  if (refusal) throw refusal
  if (reply.json === undefined) throw notJson(reply, explaining)
  const result = schema.safeParse(reply.json, { error: shapeProblem, reportInput: true })
  if (result.success) return result.data
  if (regionsIn(reply.text)) throw refusalOf(reply, explaining)
  throw wrongShape(reply, problemsOf(result.error), explaining)
}

function problemsOf(error: z.ZodError): string[] {
  return error.issues.slice(0, 3).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.join('.')}: ${message}`
  })
}

async function* joined(
  start: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* start
    yield* rest
  } finally {
    await rest.return()
  }
}
