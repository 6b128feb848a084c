import pRetry from 'p-retry'
import { DashkeepError } from './errors.ts'
import { version } from './version.ts'

export interface PostOptions {
  readonly body: string
  readonly contentType: string
  /** Attempts in all; 3 by default. */
  readonly attempts?: number | undefined
  /** Wait before the second attempt; doubles each time. */
  readonly retryBaseMs?: number | undefined
  /** Longest time an attempt may take. */
  readonly timeoutMs?: number | undefined
  /** Ends the attempt under way and every later one. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a body by POST. What may pass is repeated briefly; anything but a 2xx in the end throws.
 * No error says more of the address than its host, since whoever knows it all can write there.
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

/** Moves a user and password out of the address, where fetch does not take them. */
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

async function attempt({ target, headers }: Request, options: PostOptions): Promise<void> {
  const { body, timeoutMs = 10_000 } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([timeout, ...(options.signal ? [options.signal] : [])])
  const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const
  const answer = await fetch(target, init).catch((error: Error & { cause?: { code?: string } }) => {
    options.signal?.throwIfAborted()
    const state = timeout.aborted ? `no answer in ${timeoutMs} ms` : error.cause?.code
    throw new DashkeepError(`Cannot post to ${target.host}: ${state ?? 'no connection'}`, {
      transient: true,
    })
  })
  await answer.body?.cancel()
  if (answer.ok) return
  throw new DashkeepError(
    `Cannot post to ${target.host}: it answers with status ${answer.status}`,
    {
      transient: answer.status === 429 || answer.status >= 500,
    },
  )
}
