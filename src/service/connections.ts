import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, errors, Pool } from 'undici'

/** How long a request may take, and how many may be under way. */
export interface ConnectionLimits {
  /** Until the connection is established, TLS included. */
  readonly connectTimeoutMs: number
  /** From the request to the last of the answer's headers. */
  readonly headersTimeoutMs: number
  /** Between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number
  /** Requests at once, answers being read included. */
  readonly concurrency: number
}

/** A request as it is sent. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** From the slash on. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array | undefined
}

/** An answer whose headers have arrived. */
export type IncomingAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>

/** The connections to one origin: HTTP/1.1, kept for a few seconds after an answer. */
export interface Connections {
  /**
   * Sends a request once a connection is free, and returns the answer when its headers are there.
   * The signal ends it at once, in every state. Errors have the codes of Node or of undici
   * (`UND_ERR_…`), or `SWITCHED_PROTOCOL`. A later error is an error of the body; without a
   * listener it is ignored.
   */
  send(request: OutgoingRequest, signal: AbortSignal | undefined): Promise<IncomingAnswer>
  /** Ends all requests at once; no request is sent afterwards. */
  close(): Promise<void>
}

/** Opens connections when they are needed, at most `limits.concurrency`. */
export function createConnections(origin: string, limits: ConnectionLimits): Connections {
  const pool = new Pool(origin, {
    connections: limits.concurrency,
    // Over HTTP/2, one connection would carry any number of requests at once.
    allowH2: false,
    connectTimeout: limits.connectTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  })
  return {
    async send({ method, path, headers, body }, signal) {
      // undici takes a connection again one turn of the event loop after the end of an answer. A
      // request within that turn would open another connection.
      await nextTurn(undefined, { signal })
      const request = pool.request({
        method,
        path,
        headers,
        body: body ?? null,
        signal: signal ?? null,
        onInfo: judgeInterimAnswers(limits.headersTimeoutMs),
      })
      const answer = await endedBy(signal, request).catch(nameUpgrade)
      // Without a listener, an error of a body that nobody reads would end the process.
      answer.body.on('error', () => {})
      return answer
    },
    close: () => pool.destroy(),
  }
}

/**
 * Returns a listener for answers 1xx. It ends a request when they come for longer than
 * `timeoutMs`, since each of them starts undici's wait for the headers again, and at a 101.
 */
function judgeInterimAnswers(timeoutMs: number): (info: { statusCode: number }) => void {
  let firstAt: number | undefined
  return ({ statusCode }) => {
    if (statusCode === 101) throw switchedProtocol()
    firstAt ??= performance.now()
    if (performance.now() - firstAt > timeoutMs) throw new errors.HeadersTimeoutError()
  }
}

/** A 101 that names a protocol is an error of undici's own, with a code that other errors share. */
function nameUpgrade(error: Error): never {
  const isUpgrade = error instanceof errors.SocketError && error.message === 'bad upgrade'
  throw isUpgrade ? switchedProtocol() : error
}

function switchedProtocol(): Error {
  return Object.assign(new Error('the answer is 101'), { code: 'SWITCHED_PROTOCOL' })
}

/** A pool heeds a signal only once the request has a connection; this ends the wait for one, too. */
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
