import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { ServiceError } from './errors.ts'
import type { Operation } from './operation.ts'

/** A request failed and will be repeated: for logs and metrics. */
export interface RetryEvent {
  /** What is being done, as in "Cannot <action>". */
  readonly action: string
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** How long is waited before the next one. */
  readonly delayMs: number
  readonly error: ServiceError
}

/** How often a request is repeated, and how long each wait is. */
export interface RetryLimits {
  /** Attempts in all, the first included. */
  readonly attempts: number
  /** Wait before the second attempt; doubles each time, with up to as much again by chance. */
  readonly retryBaseMs: number
  /** The longest such wait. */
  readonly retryMaxMs: number
  /** The longest wait that the service can ask for by Retry-After. */
  readonly maxRetryAfterMs: number
}

/**
 * Repeats what failed for a transient reason. A create is repeated only when the connection never
 * came about: a second one would make a second account.
 *
 * What the service asks for by Retry-After comes on top of the back-off and its jitter, so that
 * clients that were turned away together do not return together.
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
 * Reads a Retry-After header, which holds seconds or a date. A date is measured against the
 * answer's own Date header, since the two come from the same clock.
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
