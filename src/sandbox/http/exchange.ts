import type { IncomingMessage, ServerResponse } from 'node:http'
import { withRoomFor } from '../../buffers.ts'
import type { ResolvedOptions } from '../options.ts'
import type { ListLag } from '../state/list-lag.ts'
import type { State, StoredAccount } from '../state/state.ts'
import { type Fault, type FaultList, isAnswer, type Operation } from './faults.ts'
import type { Recorder } from './recorder.ts'
import {
  faultReply,
  otherRegion,
  Refusal,
  type Reply,
  refused,
  refusedToken,
  tooManyRequests,
} from './reply.ts'
import { cutConnection, disturb, sendReply } from './send.ts'

/** The parts that answer a request. */
export interface Service {
  readonly options: ResolvedOptions
  readonly state: State
  readonly faults: FaultList
  readonly recorder: Recorder
  readonly lag: ListLag
  /** Counts the exports of an account and type, from 0. */
  readonly nextTurn: (account: number, type: string) => number
}

/** A request of a known account, with its complete body. */
export interface ServiceRequest {
  readonly account: StoredAccount
  readonly body: Uint8Array
  /** The last segment of the path, for operations on one sub account. */
  readonly id: string
  readonly fault: Fault | undefined
}

/** Performs one operation. Throws a `Refusal` when it is refused. */
export type Perform = (service: Service, request: ServiceRequest) => Reply

const nothing = new Uint8Array()
const MAX_BODY_BYTES = 512 * 1024 * 1024
const MAX_RECORDED_BYTES = 64 * 1024

/** Answers one request to an operation of the service, with its fault if there is one. */
export async function answer(
  service: Service,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
  { operation, perform, id }: { operation: Operation; perform: Perform; id: string },
): Promise<void> {
  const signal = closeSignal(outgoing)
  const account = accountOf(service, incoming)
  const leave = account === undefined ? undefined : service.recorder.enter(account.accountId)
  signal.addEventListener('abort', () => leave?.leave())
  // An unknown token is refused before the body arrives. Node discards the body.
  const body = account === undefined ? nothing : await readBody(incoming)
  const target = { operation, type: typeAsked(operation, body), account: account?.accountId }
  const answered = recordRequest(service, incoming, { ...target, body })
  const fault = service.faults.take(target)
  if (fault !== undefined && fault.atByte === undefined) {
    if (!(await disturb(outgoing, fault, signal))) return
  }
  const reply = replyTo(() => {
    if (fault !== undefined && isAnswer(fault)) return faultReply(fault)
    if (body === undefined) throw refused(413, 'Request/TOO_LARGE', 'Request body too large')
    if ((leave?.underWay ?? 0) > service.options.maxConcurrent) throw tooManyRequests()
    const owner = admit(service, account)
    return perform(service, { account: owner, body, id, fault })
  })
  if (fault?.lost) return cutConnection(outgoing)
  answered(reply.status)
  const { now } = service.options
  const { gzip, contentLength } = service.options.exports
  const compress = gzip && /\bgzip\b/.test(String(incoming.headers['accept-encoding']))
  await sendReply(outgoing, reply, { fault, date: now(), gzip: compress, contentLength, signal })
}

/** Records a request with the start of its body, if the body was read. */
export function recordRequest(
  { recorder }: Service,
  incoming: IncomingMessage,
  request: {
    operation: Operation | undefined
    type: string | undefined
    account: number | undefined
    body?: Uint8Array | undefined
  },
): (status: number) => void {
  const { 'x-api-token': _secret, ...headers } = incoming.headers
  const start = request.body?.subarray(0, MAX_RECORDED_BYTES) ?? nothing
  return recorder.record({
    ...request,
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ),
    body: Buffer.from(start).toString(),
  })
}

/**
 * Reads the body of a request; undefined when it is larger than 512 MiB. A body of known length is
 * read into one buffer, so that a large body is in memory only once.
 */
export async function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  const announced = Number(incoming.headers['content-length'] ?? 0)
  let body: Buffer = Buffer.allocUnsafeSlow(Math.min(announced, MAX_BODY_BYTES))
  let length = 0
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    const needed = length + chunk.length
    if (needed <= MAX_BODY_BYTES) {
      body = withRoomFor(body, { filled: length, needed, maxBytes: MAX_BODY_BYTES })
      body.set(chunk, length)
    }
    length = needed
  }
  return length > MAX_BODY_BYTES ? undefined : body.subarray(0, length)
}

/** Returns the result of `work`, or the reply of the refusal that it throws. */
function replyTo(work: () => Reply): Reply {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) return error.reply
    throw error
  }
}

function closeSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  outgoing.once('close', () => controller.abort())
  return controller.signal
}

function accountOf({ state }: Service, incoming: IncomingMessage): StoredAccount | undefined {
  const token = incoming.headers['x-api-token']
  return typeof token === 'string' ? state.accountOfToken(token) : undefined
}

/** Returns the account of the token. Throws a refusal for an unknown token or another region. */
function admit({ options }: Service, account: StoredAccount | undefined): StoredAccount {
  if (account === undefined) throw refusedToken(options.behaviour)
  if (account.region !== options.region) {
    throw otherRegion(options.behaviour, { account: account.region, server: options.region })
  }
  return account
}

function typeAsked(operation: Operation, body: Uint8Array | undefined): string | undefined {
  if (operation !== 'export' || body === undefined) return undefined
  try {
    const { type } = JSON.parse(Buffer.from(body).toString()) as { type?: unknown }
    return typeof type === 'string' ? type : undefined
  } catch {
    return undefined
  }
}
