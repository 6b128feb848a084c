import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { ServiceError } from './errors.ts'
import type { Operation } from './operation.ts'

/** A failed request that will be repeated, for logs and metrics. */
export interface RetryEvent {
  /** The action in "Cannot <action>". */
  readonly action: string
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** Wait before the next attempt. */
  readonly delayMs: number
  readonly error: ServiceError
}

/** How often a request is repeated, and how long each wait is. */
export interface RetryLimits {
  /** Total number of attempts. */
  readonly attempts: number
  /** Wait before the second attempt. Doubles each time; a random part of up to 100 % is added. */
  readonly retryBaseMs: number
  /** The longest such wait. */
  readonly retryMaxMs: number
  /** The longest wait that the service can ask for by Retry-After. */
  readonly maxRetryAfterMs: number
}

/**
 * Repeats a request after a transient failure. A create is repeated only when there was no connection:
 * otherwise it could create a second account.
 *
 * The wait that the service requests with Retry-After is added to the random wait, so that many clients
 * do not return at the same time.
 */
export function withRetries<T>(
  operation: Operation,
  attempt: () => Promise<T>,
  options: {
    limits: RetryLimits
    onRetry: ((event: RetryEvent) => void) | undefined
    signal: AbortSignal | undefined
  },
): Promise<T> {
  const { limits, onRetry, signal } = options
  const numbered = (number: number) =>
    attempt().catch((error) => {
      if (error instanceof ServiceError) error.attempt = number
      throw error
    })
  return pRetry(numbered, {
    retries: limits.attempts - 1,
    minTimeout: limits.retryBaseMs,
    maxTimeout: limits.retryMaxMs,
    randomize: true,
    signal,
    shouldRetry: async ({ error, attemptNumber, retryDelay }) => {
      if (!mayRepeat(operation, error)) return false
      const askedMs = Math.min(error.retryAfterMs ?? 0, limits.maxRetryAfterMs)
      const delayMs = askedMs + retryDelay
      onRetry?.({ action: operation.action, attempt: attemptNumber, delayMs, error })
      if (askedMs > 0) await sleep(askedMs, undefined, { signal }).catch(giveReason(signal))
      return true
    },
  })
}

function mayRepeat(operation: Operation, error: Error): error is ServiceError {
  if (!(error instanceof ServiceError) || !error.transient) return false
  return operation.name !== 'create' || error.status === undefined
}

function giveReason(signal: AbortSignal | undefined): () => void {
  return () => signal?.throwIfAborted()
}

/**
 * Reads a Retry-After header: seconds or a date. A date is compared with the Date header of the same
 * answer, because both come from the same clock.
 */
export function retryAfterMs(
  retryAfter: string | undefined,
  { date, now }: { date: string | undefined; now: number },
): number | undefined {
  if (retryAfter === undefined) return undefined
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter) * 1000
  const until = Date.parse(retryAfter)
  if (Number.isNaN(until)) return undefined
  const serverNow = Date.parse(date ?? '')
  return Math.max(0, until - (Number.isNaN(serverNow) ? now : serverNow))
}
