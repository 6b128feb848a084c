import pRetry from 'p-retry'
import { DashkeepError } from '../errors.ts'
import { type FindProxy, ProxyError } from '../http/proxy.ts'
import { version } from '../version.ts'

interface PostOptions {
  readonly body: string
  readonly contentType: string
  readonly findProxy: FindProxy
  /** Number of attempts; 3 by default. */
  readonly attempts?: number | undefined
  /** Wait before the second attempt; doubles each time. */
  readonly retryBaseMs?: number | undefined
  /** Longest time of one attempt; 10 seconds by default. */
  readonly timeoutMs?: number | undefined
  /** Aborts the current attempt and all later ones. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a body by POST. Repeats after temporary failures, and throws unless the status is 2xx. Errors
 * contain only the host of the address: the whole address is a secret.
 */
export async function post(address: string, options: PostOptions): Promise<void> {
  const request = prepare(address, options)
  const { attempts = 3, retryBaseMs = 500 } = options
  await pRetry(() => attempt(request, options), {
    retries: attempts - 1,
    minTimeout: retryBaseMs,
    ...(options.signal && { signal: options.signal }),
    shouldRetry: ({ error }) => error instanceof DashkeepError && error.transient,
  })
}

interface Request {
  readonly target: URL
  readonly headers: Record<string, string>
}

/** Moves a user and password from the address into a header. HTTP clients refuse them in addresses. */
function prepare(address: string, { contentType }: PostOptions): Request {
  const target = URL.parse(address)
  if (target === null || !/^https?:$/.test(target.protocol)) {
    throw new DashkeepError('Cannot post: the address is not an http:// or https:// address', {
      kind: 'usage',
    })
  }
  const headers = { 'Content-Type': contentType, 'User-Agent': `dashkeep/${version}` }
  const { username, password } = target
  if (!username && !password) return { target, headers }
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  target.username = ''
  target.password = ''
  const Authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return { target, headers: { ...headers, Authorization } }
}

async function attempt(request: Request, options: PostOptions): Promise<void> {
  const status = await send(request, options)
  if (status >= 200 && status < 300) return
  throw new DashkeepError(
    `Cannot post to ${request.target.host}: it answers with status ${status}`,
    { transient: status === 429 || status >= 500 },
  )
}

/** Sends the request on a new connection and returns the status of the answer. */
async function send({ target, headers }: Request, options: PostOptions): Promise<number> {
  const { body, timeoutMs = 10_000, findProxy } = options
  // Lazy: most runs send no notification.
  const { createConnections } = await import('../http/connections.ts')
  const limits = {
    connectTimeoutMs: timeoutMs,
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
    concurrency: 1,
  }
  const connections = createConnections(target.origin, { limits, proxy: findProxy(target) })
  const path = target.pathname + target.search
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([timeout, ...(options.signal ? [options.signal] : [])])
  try {
    const answer = await connections.send({ method: 'POST', path, headers, body }, signal)
    return answer.statusCode
  } catch (error) {
    options.signal?.throwIfAborted()
    const state = timeout.aborted ? `no answer in ${timeoutMs} ms` : undefined
    throw failure(target, error as NodeJS.ErrnoException, state)
  } finally {
    await connections.close()
  }
}

function failure({ host }: URL, error: NodeJS.ErrnoException, state = error.code): DashkeepError {
  if (error instanceof ProxyError) {
    const { message, hint, transient } = error
    return new DashkeepError(`Cannot post to ${host}: ${message}`, { hint, transient })
  }
  const code = state?.replace(/^UND_ERR_/, '') ?? 'no connection'
  if (/CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code)) {
    return new DashkeepError(`Cannot post to ${host}: its certificate is not trusted (${code})`, {
      hint: 'for a private certificate authority, set NODE_EXTRA_CA_CERTS to the file of its certificate',
    })
  }
  return new DashkeepError(`Cannot post to ${host}: ${code}`, { transient: true })
}
