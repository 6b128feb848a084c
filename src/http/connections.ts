import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, errors, Pool, ProxyAgent } from 'undici'
import type { ConnectionLimits } from './limits.ts'
import { type HttpProxy, type ProxyError, proxyFailure, proxyRefusal } from './proxy.ts'

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

/** Opens connections when they are needed, at most `limits.concurrency`, through the proxy if any. */
export function createConnections(
  origin: string,
  { limits, proxy }: { limits: ConnectionLimits; proxy: HttpProxy | undefined },
): Connections {
  const dispatcher = proxy ? openThrough(proxy, limits) : openPool(origin, { limits })
  const explain = proxy && !isSecure(origin) ? forwardingError(proxy, origin) : nameUpgrade
  return {
    async send({ method, path, headers, body }, signal) {
      // undici takes a connection again one turn of the event loop after the end of an answer. A
      // request within that turn would open another connection.
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
      // Without a listener, an error of a body that nobody reads would end the process.
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

/** Requests over TLS go through a tunnel that the proxy makes, others are sent to the proxy. */
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

/** The connections to a proxy on which it is asked for tunnels, within the limit for connecting. */
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
    // The only refusal that undici reports by itself, with an error without a status.
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
