import { createConnections, type IncomingAnswer } from '../http/connections.ts'
import type { ConnectionLimits } from '../http/limits.ts'
import type { HttpProxy } from '../http/proxy.ts'
import { clockSkewOf } from './clock-skew.ts'
import { acceptedEncodings, decodedBody } from './decode.ts'
import { ServiceError } from './errors.ts'
import { networkError } from './network-error.ts'
import { type Operation, uncertainCreateHint } from './operation.ts'
import type { Sanitize } from './sanitize.ts'

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

/** Sends single requests to one service. Does not retry, and does not interpret answers. */
interface Transport {
  /** How far the service's clock is ahead of this machine's, by the last answer with a date. */
  readonly clockSkewMs: number | undefined
  send(
    operation: Operation,
    options: { maxBytes: number; signal: AbortSignal | undefined },
  ): Promise<Answer>
  /** Ends every connection at once. */
  close(): Promise<void>
}

/** Opens at most `limits.concurrency` connections to the service. */
export function createTransport(
  baseUrl: URL,
  options: {
    token: string
    address: string
    limits: ConnectionLimits & { answerTimeoutMs: number }
    proxy: HttpProxy | undefined
    sanitize: Sanitize
    now: () => Date
  },
): Transport {
  const { token, address, limits, proxy, sanitize, now } = options
  const connections = createConnections(baseUrl.origin, { limits, proxy })
  const basePath = baseUrl.pathname.replace(/\/+$/, '')
  let clockSkewMs: number | undefined
  return {
    get clockSkewMs() {
      return clockSkewMs
    },
    async send(operation, { maxBytes, signal: stop }) {
      const { signal, explain } = limitTime(operation, stop, { ...limits, address })
      try {
        const request = {
          method: operation.method,
          path: basePath + operation.path,
          headers: headersWith(token),
          body: encodeBody(operation.body),
        }
        const response = await connections.send(request, signal)
        const reading = { operation, maxBytes, explain, address, sanitize }
        const answer = answerFrom(response, reading)
        clockSkewMs = clockSkewOf(answer.header, now()) ?? clockSkewMs
        return answer
      } catch (error) {
        explain()
        throw networkError(operation, error, { address, sanitize })
      }
    },
    close: connections.close,
  }
}

function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined) return undefined
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

/** Throws the reason if the caller or the time limit ended the request. */
type Explain = () => void

/**
 * Limits the total time of a request. An answer in many small chunks would never reach the other
 * limits.
 */
function limitTime(
  { action }: Operation,
  stop: AbortSignal | undefined,
  { answerTimeoutMs, address }: { answerTimeoutMs: number; address: string },
): { signal: AbortSignal; explain: Explain } {
  const timeout = AbortSignal.timeout(answerTimeoutMs)
  const explain = () => {
    stop?.throwIfAborted()
    if (!timeout.aborted) return
    throw new ServiceError(
      `Cannot ${action}: ${address} has not sent the whole answer after ${answerTimeoutMs / 1000} s`,
      { code: 'timeout', hint: 'if the service is slow, raise limits.answerTimeoutMs' },
    )
  }
  return { signal: AbortSignal.any([timeout, ...(stop ? [stop] : [])]), explain }
}

interface Reading {
  readonly operation: Operation
  readonly maxBytes: number
  readonly explain: Explain
  readonly address: string
  readonly sanitize: Sanitize
}

function answerFrom(response: IncomingAnswer, reading: Reading): Answer {
  const header = (name: string) => {
    const value = response.headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  return { status: response.statusCode, header, body: receive(response, header, reading) }
}

async function* receive(
  { statusCode, body }: IncomingAnswer,
  header: Answer['header'],
  { operation, maxBytes, explain, address, sanitize }: Reading,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = (header('content-encoding') ?? '').trim().toLowerCase()
  const decoded = decodedBody(body, encoding)
  if (decoded === undefined) {
    body.destroy()
    // The status is enough to explain a refusal.
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
    explain()
    if (error instanceof ServiceError) throw error
    throw networkError(operation, error, { address, sanitize, receivedBytes })
  }
}

function tooLarge(operation: Operation, maxBytes: number): ServiceError {
  const exporting = operation.name === 'export'
  return new ServiceError(
    `Cannot ${operation.action}: the answer is larger than the limit of ${maxBytes} bytes`,
    { code: 'too-large', hint: exporting ? 'raise limits.maxExportBytes' : undefined },
  )
}

function unknownEncoding(operation: Operation, encoding: string): ServiceError {
  return new ServiceError(
    `Cannot ${operation.action}: the answer is encoded as "${encoding}", which was not requested`,
    {
      code: 'not-json',
      hint:
        operation.name === 'create'
          ? uncertainCreateHint
          : `a proxy may have changed it; dashkeep reads only ${acceptedEncodings}`,
    },
  )
}
