import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'

/** How long a request may take, and how many may be under way. */
export interface ConnectionLimits {
  /** Until the connection stands, TLS included. */
  readonly connectTimeoutMs: number
  /** From the request to the last of the answer's headers. */
  readonly headersTimeoutMs: number
  /** Between two pieces of the answer's body. */
  readonly bodyTimeoutMs: number
  /** Requests at once, answers being read included. */
  readonly concurrency: number
}

/** A request as it goes out. */
export interface OutgoingRequest {
  readonly method: string
  /** From the slash on. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

/** The connections to one origin: HTTP/1.1, kept for a few seconds after an answer. */
export interface Connections {
  /**
   * Sends a request once a connection is free, and returns the answer when its headers are there.
   * The signal ends it wherever it is. What goes wrong later is an error of the answer, which ends
   * nothing else when nobody listens. Errors have Node's codes, or `CONNECT_TIMEOUT`,
   * `HEADERS_TIMEOUT`, `BODY_TIMEOUT`, `SWITCHED_PROTOCOL`, `ABORTED` or `CLOSED`.
   */
  send(request: OutgoingRequest, signal: AbortSignal | undefined): Promise<IncomingMessage>
  /** Ends what is under way at once; nothing is sent any more. */
  close(): void
}

/** Servers and proxies keep a connection for five seconds or more, and say so when it is less. */
const idleTimeoutMs = 4_000

/** `reusedSocket` of a request says nothing of a connection that it had to wait for. */
const connected = new WeakSet<Socket>()

/** Opens connections when they are needed, at most `limits.concurrency`. */
export function createConnections(origin: string, limits: ConnectionLimits): Connections {
  const secure = origin.startsWith('https:')
  const kept = { keepAlive: true, maxSockets: limits.concurrency, timeout: idleTimeoutMs }
  const agent = secure ? new HttpsAgent(kept) : new HttpAgent(kept)
  const start = secure ? requestHttps : requestHttp
  const underWay = new Set<(error: Error) => void>()
  let closed = false
  return {
    async send({ method, path, headers, body }, signal) {
      if (closed) throw connectionError('CLOSED')
      if (signal?.aborted) throw connectionError('ABORTED')
      const request = start(origin, { agent, method, path, headers })
      const { answer, end } = exchange(request, limits, () => {
        underWay.delete(end)
        signal?.removeEventListener('abort', onAbort)
      })
      const onAbort = () => end(connectionError('ABORTED'))
      underWay.add(end)
      signal?.addEventListener('abort', onAbort)
      request.end(body)
      return answer
    },
    close() {
      closed = true
      for (const end of underWay) end(connectionError('CLOSED'))
      // By itself an agent opens a connection for what still waits when another one is closed.
      agent.createConnection = refuse
      agent.destroy()
    },
  }
}

/** Stands for an agent's `createConnection` once nothing may be opened. */
function refuse(_options: unknown, done?: (error: Error, socket: never) => void): undefined {
  done?.(connectionError('CLOSED'), undefined as never)
}

interface Exchange {
  readonly answer: Promise<IncomingMessage>
  readonly end: (error: Error) => void
}

function exchange(request: ClientRequest, limits: ConnectionLimits, onEnd: () => void): Exchange {
  const { promise: answer, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  let current: ClientRequest | IncomingMessage = request
  let timer: NodeJS.Timeout | undefined

  function limit(timeoutMs: number, code: string): void {
    clearTimeout(timer)
    timer = setTimeout(() => end(connectionError(code)), timeoutMs)
  }

  function end(error: Error): void {
    clearTimeout(timer)
    onEnd()
    reject(error)
    current.destroy(error)
  }

  const limitHeaders = () => limit(limits.headersTimeoutMs, 'HEADERS_TIMEOUT')
  request.on('socket', (socket) => {
    if (connected.has(socket)) {
      limitHeaders()
      return
    }
    limit(limits.connectTimeoutMs, 'CONNECT_TIMEOUT')
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      connected.add(socket)
      limitHeaders()
    })
  })
  // Without this listener an answer 101 would be waited for until the time for headers is over.
  request.on('upgrade', (_answer, socket) => {
    socket.destroy()
    end(connectionError('SWITCHED_PROTOCOL'))
  })
  request.on('response', (response) => {
    if (response.statusCode === 101) {
      end(connectionError('SWITCHED_PROTOCOL'))
      return
    }
    clearTimeout(timer)
    current = response
    response.on('error', () => {})
    limitPauses(response, limits.bodyTimeoutMs)
    resolve(response)
  })
  request.on('error', end)
  request.on('close', onEnd)
  return { answer, end }
}

/** Ends an answer that stops coming, unless what has come is still to be read. */
function limitPauses(response: IncomingMessage, timeoutMs: number): void {
  const { socket } = response
  const onTimeout = () => {
    if (response.readableLength > 0) socket.setTimeout(timeoutMs)
    else response.destroy(connectionError('BODY_TIMEOUT'))
  }
  socket.setTimeout(timeoutMs)
  socket.on('timeout', onTimeout)
  response.on('close', () => socket.off('timeout', onTimeout))
}

function connectionError(code: string): Error {
  return Object.assign(new Error(code), { code })
}
