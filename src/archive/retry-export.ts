import pRetry, { AbortError } from 'p-retry'
import { DashkeepError } from '../errors.ts'
import type { SavedObjectSource } from './source.ts'

/**
 * Exports a type and reads its body with `read`. When the body breaks off, exports the type again and
 * calls `read` again, so `read` must start anew each time. A request that fails before its body is
 * not repeated here, because the source has repeated it already.
 */
export function retryExport<Content>(
  source: SavedObjectSource,
  type: string,
  read: (body: AsyncIterable<Uint8Array>) => Promise<Content>,
  options: {
    /** Attempts in all, the first included. */
    attempts: number
    /** Wait before the second attempt; doubles each time, with a random part. */
    retryBaseMs: number
    /** Called before the wait for another attempt. */
    onBrokenOff?: (error: Error) => void
    signal?: AbortSignal | undefined
  },
): Promise<Content> {
  const { attempts, retryBaseMs, onBrokenOff, signal } = options
  const attempt = async () => {
    const body = await source.exportObjects(type, { signal }).catch((error) => {
      throw new AbortError(error)
    })
    return read(body)
  }
  const isTransient = (error: Error) => error instanceof DashkeepError && error.transient
  return pRetry(attempt, {
    retries: attempts - 1,
    minTimeout: retryBaseMs,
    randomize: true,
    ...(signal && { signal }),
    shouldRetry: ({ error }) => isTransient(error),
    onFailedAttempt({ error, retriesLeft }) {
      if (isTransient(error) && retriesLeft > 0) onBrokenOff?.(error)
    },
  })
}
