// Tested by test/service/connections.test.ts

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, errors, Pool, ProxyAgent } from 'undici'
import type { ConnectionLimits } from './limits.ts'
import { type HttpProxy, type ProxyError, proxyFailure, proxyRefusal } from './proxy.ts'

/** An HTTP request. */
interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Path and query, beginning with a slash. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array | undefined
}

/** An answer whose headers have arrived. */
export type IncomingAnswer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>

/** The connections to one origin: HTTP/1.1, kept for a few seconds after an answer. */
interface Connections {
  /**
   * Sends a request when a connection is free. Returns the answer when its headers have arrived.
   * An aborted signal ends the request at once. Errors have a code of Node or undici (`UND_ERR_…`),
   * or `SWITCHED_PROTOCOL`. An error after the headers is an error of the body.
   */
  send(request: OutgoingRequest, signal: AbortSignal | undefined): Promise<IncomingAnswer>
  /** Ends all requests at once; no request is sent afterwards. */
  close(): Promise<void>
}

/** Opens at most `limits.concurrency` connections, through the proxy if there is one. */
export function createConnections(
  origin: string,
  { limits, proxy }: { limits: ConnectionLimits; proxy: HttpProxy | undefined },
): Connections {
  const dispatcher = proxy ? openThrough(proxy, limits) : openPool(origin, { limits })
  const explain = proxy && !isSecure(origin) ? forwardingError(proxy, origin) : nameUpgrade
  return {
    async send({ method, path, headers, body }, signal) {
      // undici reuses a connection only in the next turn of the event loop. A request in the same
      // turn would open another connection.
      await nextTurn(undefined, { signal })
      const request = dispatcher.request({
        origin,
        method,
        path,
        headers,
        body: body ?? null,
        signal: signal ?? null,
        onInfo: judgeInterimAnswers(limits.headersTimeoutMs),
      })
      const answer = await endedBy(signal, request).catch(explain)
      // Without a listener, an error of an unread body would end the process.
      answer.body.on('error', () => {})
      return answer
    },
    close: () => dispatcher.destroy(),
  }
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:')
}

function openPool(
  origin: string | URL,
  { limits, options = {} }: { limits: ConnectionLimits; options?: object },
): Pool {
  return new Pool(origin, {
    ...options,
    connections: limits.concurrency,
    // Over HTTP/2, one connection would carry any number of requests at once.
    allowH2: false,
    connectTimeout: limits.connectTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.bodyTimeoutMs,
  })
}

/** HTTPS requests use a tunnel through the proxy. HTTP requests are sent to the proxy itself. */
function openThrough(proxy: HttpProxy, limits: ConnectionLimits): ProxyAgent {
  return new ProxyAgent({
    uri: proxy.url.href,
    allowH2: false,
    proxyTls: { allowH2: false },
    connectTimeout: limits.connectTimeoutMs,
    factory: (origin, options) => openPool(origin, { limits, options }),
    clientFactory: (address, options) => openTunnels(address, { proxy, limits, options }),
  })
}

/** Connections that ask a proxy for tunnels. The connect timeout limits the wait for a tunnel. */
function openTunnels(
  address: URL,
  { proxy, limits, options }: { proxy: HttpProxy; limits: ConnectionLimits; options: object },
): Pool {
  const pool = new Pool(address, { ...options, headersTimeout: limits.connectTimeoutMs })
  const connect = pool.connect.bind(pool)
  const connectOrExplain = async (request: Parameters<typeof connect>[0]) => {
    const { statusCode: status, ...others } = await connect(request).catch((error: Error) => {
      throw error instanceof errors.ClientDestroyedError ? error : toProxyError(proxy, error)
    })
    if (status === 200) return { statusCode: status, ...others }
    others.socket.on('error', () => {}).destroy()
    throw proxyRefusal(proxy, { status, target: request.path })
  }
  return Object.assign(pool, { connect: connectOrExplain })
}

/** Explains an error of a request that is sent to a proxy, not through a tunnel. */
function forwardingError(proxy: HttpProxy, origin: string): (error: Error) => never {
  return (error) => {
    const { syscall, message } = error as NodeJS.ErrnoException
    // undici itself reports status 407, as an error without a status.
    if (error instanceof errors.InvalidArgumentError && message.includes('407')) {
      throw proxyRefusal(proxy, { status: 407, target: new URL(origin).host })
    }
    const isOfConnecting =
      syscall === 'connect' ||
      syscall === 'getaddrinfo' ||
      error instanceof errors.ConnectTimeoutError
    throw isOfConnecting ? toProxyError(proxy, error) : error
  }
}

function toProxyError(proxy: HttpProxy, error: Error & { code?: unknown }): ProxyError {
  return proxyFailure(proxy, typeof error.code === 'string' ? error.code : error.name)
}

/**
 * Returns a listener for interim answers (1xx). It ends the request at a 101, and when interim answers
 * arrive for longer than `timeoutMs`: each of them restarts undici's timeout for the headers.
 */
function judgeInterimAnswers(timeoutMs: number): (info: { statusCode: number }) => void {
  let firstAt: number | undefined
  return ({ statusCode }) => {
    if (statusCode === 101) throw switchedProtocol()
    firstAt ??= performance.now()
    if (performance.now() - firstAt > timeoutMs) throw new errors.HeadersTimeoutError()
  }
}

/** undici reports a 101 that names a protocol with a code that other errors have, too. */
function nameUpgrade(error: Error): never {
  const isUpgrade = error instanceof errors.SocketError && error.message === 'bad upgrade'
  throw isUpgrade ? switchedProtocol() : error
}

function switchedProtocol(): Error {
  return Object.assign(new Error('the answer is 101'), { code: 'SWITCHED_PROTOCOL' })
}

/** Also ends the wait for a connection: undici applies the signal only to a request with a connection. */
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
