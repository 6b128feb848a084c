import { randomUUID } from 'node:crypto'
import { type ExportBody, heldDocument } from '../objects/hit-source.ts'
import type { Behaviour } from '../options.ts'
import type { Fault } from './faults.ts'

/** An answer before it is sent. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ExportBody
  /** Whether the body may be compressed and sent in chunks: only the body of an export. */
  readonly streamed: boolean
}

/** An error that becomes the answer of the service. */
export class Refusal extends Error {
  readonly reply: Reply

  constructor(reply: Reply) {
    super(`refused with status ${reply.status}`)
    this.reply = reply
  }
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** An answer with a JSON body. */
export function jsonReply(value: unknown, status = 200): Reply {
  return textReply(JSON.stringify(value), { status, type: JSON_TYPE })
}

function textReply(
  text: string | Uint8Array,
  { status, type = 'text/plain; charset=utf-8' }: { status: number; type?: string },
): Reply {
  const body = heldDocument(typeof text === 'string' ? Buffer.from(text) : text)
  return { status, headers: { 'content-type': type }, body, streamed: false }
}

/** An answer without a body. */
export function emptyReply(status: number): Reply {
  return { status, headers: {}, body: { chunks: [], length: 0 }, streamed: false }
}

/** An answer with an export. Only exports are compressed, or sent without a length. */
export function exportReply(body: ExportBody): Reply {
  return { status: 200, headers: { 'content-type': JSON_TYPE }, body, streamed: true }
}

/** The specified answer to a token that is invalid or has too few rights. */
export function refusedToken({ refusalStatus }: Pick<Behaviour, 'refusalStatus'>): Refusal {
  return new Refusal(jsonReply({ code: 403, message: 'Insufficient privileges' }, refusalStatus))
}

/** The specified answer to a token of another region. */
export function otherRegion(
  { refusalStatus }: Pick<Behaviour, 'refusalStatus'>,
  { account, server }: { account: string; server: string },
): Refusal {
  const message = `Account region ${account} differs from current server region ${server}`
  return new Refusal(jsonReply({ code: 403, message }, refusalStatus))
}

/** Any other error, in the format of deployed services. The specification defines none. */
export function refused(status: number, errorCode: string, message: string): Refusal {
  return new Refusal(
    jsonReply({ errorCode, message, requestId: randomUUID(), parameters: {} }, status),
  )
}

/** The answer with status 429. Its body is not JSON. */
export function tooManyRequests(): Refusal {
  return new Refusal(textReply('Too Many Requests', { status: 429 }))
}

/** The answer of a fault that replaces the answer of the service. */
export function faultReply(fault: Fault): Reply {
  const { status, body, retryAfter, redirectTo } = fault
  if (fault.refused) return refusedToken({ refusalStatus: 200 }).reply
  const headers = {
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    ...(redirectTo === undefined ? {} : { location: redirectTo }),
  }
  const known = status ?? impliedStatus(fault)
  const reply = body === undefined ? bodyForStatus(known) : bodyAsGiven(body, known)
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

function impliedStatus({ redirectTo, retryAfter }: Fault): number {
  if (redirectTo !== undefined) return 307
  return retryAfter === undefined ? 200 : 429
}

function bodyForStatus(status: number): Reply {
  if (status === 204 || status === 304) return emptyReply(status)
  if (status === 429) return tooManyRequests().reply
  return refused(status, `Sandbox/${status}`, 'A fault that was asked for').reply
}

function bodyAsGiven(body: string | Uint8Array, status: number): Reply {
  const json = typeof body !== 'string' || /^\s*[[{"]/.test(body)
  return textReply(body, json ? { status, type: JSON_TYPE } : { status })
}
