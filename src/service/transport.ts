import { type Dispatcher, Pool } from 'undici'
import { acceptedEncodings, decodedBody } from './decode.ts'
import { ServiceError } from './errors.ts'
import { networkError } from './network-error.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import type { Sanitize } from './sanitize.ts'

/** How long a request may take, and how many may be under way. */
export interface TransportLimits {
  /** Until the connection stands, TLS included. */
  readonly connectTimeoutMs: number
  /** From the request to the last of the answer's headers. */
  readonly headersTimeoutMs: number
  /** Between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number
  /** Requests at once, exports being read included. */
  readonly concurrency: number
}

/** An answer whose headers have arrived. */
export interface Answer {
  readonly status: number
  /** The first value of a header, by its name in lower case. */
  header(name: string): string | undefined
  /**
   * The body after content decoding, as it arrives. Every failure is a {@link ServiceError};
   * leaving early closes the connection.
   */
  readonly body: AsyncGenerator<Uint8Array, void, undefined>
}

/** Sends single requests to one service; knows nothing of retries and of what answers mean. */
export interface Transport {
  /** How far the service's clock was ahead of this machine's at the last answer that had a date. */
  readonly clockSkewMs: number | undefined
  send(
    operation: Operation,
    options: { maxBytes: number; signal: AbortSignal | undefined },
  ): Promise<Answer>
  /** Ends every connection at once. */
  close(): Promise<void>
}

/** Opens connections to the service, at most `limits.concurrency`, when they are needed. */
export function createTransport(
  baseUrl: URL,
  options: { token: string; address: string; limits: TransportLimits; sanitize: Sanitize },
): Transport {
  const { token, address, limits, sanitize } = options
  const pool = createPool(baseUrl, limits)
  const basePath = baseUrl.pathname.replace(/\/+$/, '')
  let clockSkewMs: number | undefined
  return {
    get clockSkewMs() {
      return clockSkewMs
    },
    async send(operation, { maxBytes, signal }) {
      try {
        const request = pool.request({
          method: operation.method,
          path: basePath + operation.path,
          headers: headersWith(token),
          body: encodeBody(operation.body),
          signal: signal ?? null,
        })
        const response = await endedBy(signal, request)
        const answer = answerFrom(response, { operation, maxBytes, signal, address, sanitize })
        clockSkewMs = skewOf(answer, Date.now()) ?? clockSkewMs
        return answer
      } catch (error) {
        signal?.throwIfAborted()
        throw networkError(operation, error, { address, sanitize })
      }
    },
    close: () => pool.destroy(),
  }
}

/** HTTP/1.1 only: over HTTP/2 one connection would carry any number of requests at once. */
function createPool(baseUrl: URL, limits: TransportLimits): Pool {
  return new Pool(baseUrl.origin, {
    connections: limits.concurrency,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  })
}

function encodeBody(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null
  return body instanceof Uint8Array ? body : JSON.stringify(body)
}

function headersWith(token: string): Record<string, string> {
  return {
    'X-API-TOKEN': token,
    'Content-Type': 'application/json',
    Accept: 'application/json',
    'Accept-Encoding': acceptedEncodings,
    'User-Agent': 'dashkeep',
  }
}

/** The pool looks at a signal only once it has a connection; this ends the wait for one, too. */
async function endedBy<T>(signal: AbortSignal | undefined, request: Promise<T>): Promise<T> {
  if (signal === undefined) return request
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([request, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

interface Reading {
  readonly operation: Operation
  readonly maxBytes: number
  readonly signal: AbortSignal | undefined
  readonly address: string
  readonly sanitize: Sanitize
}

function answerFrom(response: Dispatcher.ResponseData, reading: Reading): Answer {
  const header = (name: string) => {
    const value = response.headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  // Without a listener, a connection lost while nobody reads would end the process.
  response.body.on('error', () => {})
  return { status: response.statusCode, header, body: receive(response, header, reading) }
}

async function* receive(
  { statusCode, body }: Dispatcher.ResponseData,
  header: Answer['header'],
  { operation, maxBytes, signal, address, sanitize }: Reading,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = (header('content-encoding') ?? '').trim().toLowerCase()
  const decoded = decodedBody(body, encoding)
  if (decoded === undefined) {
    body.destroy()
    // A refusal is told by its status alone.
    if (statusCode >= 300) return
    throw unknownEncoding(operation, sanitize(encoding, 40))
  }
  let receivedBytes = 0
  try {
    for await (const chunk of decoded) {
      receivedBytes += chunk.byteLength
      if (receivedBytes > maxBytes) throw tooLarge(operation, maxBytes)
      yield chunk
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ServiceError) throw error
    throw networkError(operation, error, { address, sanitize, receivedBytes })
  }
}

function tooLarge(operation: Operation, maxBytes: number): ServiceError {
  const exporting = operation.name === 'export'
  return new ServiceError(
    `Cannot ${operation.action}: the answer is larger than the limit of ${maxBytes} bytes`,
    { code: 'too-large', hint: exporting ? 'Raise the limit for exports.' : undefined },
  )
}

function unknownEncoding(operation: Operation, encoding: string): ServiceError {
  return new ServiceError(
    `Cannot ${operation.action}: the answer is encoded as "${encoding}", which was not asked for`,
    {
      code: 'not-json',
      hint:
        operation.name === 'create'
          ? uncertainCreateHint
          : `A proxy on the way may have changed it; only ${acceptedEncodings} can be read.`,
    },
  )
}

function skewOf(answer: Answer, now: number): number | undefined {
  const serverTime = Date.parse(answer.header('date') ?? '')
  return Number.isNaN(serverTime) ? undefined : serverTime - now
}
