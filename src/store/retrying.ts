import pRetry from 'p-retry'
import { startDeadline } from './deadline.ts'

/** Classifies the errors of a kind of store. */
interface ErrorJudge {
  /** Whether a later attempt may succeed. */
  isTransient(error: unknown): boolean
  /** Whether the store did not answer in time. */
  isTimeout(error: unknown): boolean
}

/** A failed request that will be repeated, for the log. */
export interface StoreRetry {
  /** The action in "Cannot <action>". */
  readonly action: string
  /** The address of the object or the store. */
  readonly target: string
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** Wait before the next attempt. */
  readonly delayMs: number
  readonly error: Error
}

/** A failed attempt of a request that will be repeated. */
export type FailedAttempt = Pick<StoreRetry, 'attempt' | 'delayMs' | 'error'>

/** Options of one request. */
interface RequestOptions {
  /** Maximum duration of one attempt. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Called before each repetition. */
  readonly onRetry: (failed: FailedAttempt) => void
}

/** Repeats the requests of a store: at most four times, and at most twice after timeouts. */
interface Retrier {
  /**
   * Sends a request, and repeats it after transient failures. Each attempt has its own deadline. Throws
   * the last failure, or the reason of an aborted signal.
   */
  send<T>(attempt: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<T>
  /** Counts failures for a caller that repeats by itself, without a delay. */
  watch(options: Omit<RequestOptions, 'timeoutMs'>): FailureWatch
}

/** Counts the failures of an operation that its caller repeats. */
export interface FailureWatch {
  /** Whether to try again after a failure. Reports it to `onRetry` if so. */
  mayRepeat(error: unknown): boolean
}

const maxRetries = 4
/** Timeouts are repeated less often than other failures, because each takes long. */
const maxTimeouts = 3
const defaultDelayMs = 500
const maxDelayMs = 10_000

/**
 * Creates the retrier of a store. `delayMs` is the wait before the first repetition. The wait doubles up
 * to ten seconds and has a random part. `judge` tells which errors are transient.
 */
export function createRetrier(
  judge: ErrorJudge,
  { delayMs = defaultDelayMs }: { delayMs?: number | undefined } = {},
): Retrier {
  return {
    async send(attempt, { timeoutMs, signal, onRetry }) {
      const mayRepeat = countTimeouts(judge)
      return await pRetry(() => withDeadline(attempt, timeoutMs, signal), {
        signal,
        minTimeout: delayMs,
        maxTimeout: maxDelayMs,
        retries: maxRetries,
        randomize: true,
        shouldRetry: ({ error, attemptNumber, retryDelay }) => {
          if (!mayRepeat(error)) return false
          onRetry({ attempt: attemptNumber, delayMs: retryDelay, error })
          return true
        },
      })
    },
    watch({ signal, onRetry }) {
      const mayRepeat = countTimeouts(judge)
      let attempt = 0
      return {
        mayRepeat(error) {
          attempt += 1
          if (signal?.aborted || attempt > maxRetries || !mayRepeat(error)) return false
          onRetry({ attempt, delayMs: 0, error: error as Error })
          return true
        },
      }
    },
  }
}

/** Returns a function that allows a repetition after a transient failure, unless there were too many timeouts. */
function countTimeouts({ isTransient, isTimeout }: ErrorJudge): (error: unknown) => boolean {
  let timeouts = 0
  return (error) => {
    if (isTimeout(error)) timeouts += 1
    return isTransient(error) && timeouts < maxTimeouts
  }
}

async function withDeadline<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  using deadline = startDeadline(timeoutMs, signal)
  try {
    return await attempt(deadline.signal)
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error
  }
}
