import pRetry from 'p-retry'
import { startDeadline } from './deadline.ts'

/** What a kind of store says of its errors. */
export interface ErrorJudge {
  /** Whether the same request may succeed a moment later. */
  isTransient(error: unknown): boolean
  /** Whether the store did not answer in time. */
  isTimeout(error: unknown): boolean
}

/** A request to the store failed and will be repeated: for the log. */
export interface StoreRetry {
  /** What is being done, as in "Cannot <action>". */
  readonly action: string
  /** The address of the object or the store. */
  readonly target: string
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** How long is waited before the next one. */
  readonly delayMs: number
  readonly error: Error
}

/** A request that failed and will be repeated. */
export type FailedAttempt = Pick<StoreRetry, 'attempt' | 'delayMs' | 'error'>

/** How one request is repeated. */
export interface RequestOptions {
  /** The longest that one attempt may take, in milliseconds. */
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** Called before each repetition. */
  readonly onRetry: (failed: FailedAttempt) => void
}

/** Repeats the requests of a store: at most four times, and at most twice after timeouts. */
export interface Retrier {
  /**
   * Sends a request, and repeats it while the failure is transient. Each attempt has a deadline of
   * its own. Throws the last failure, or the reason of the signal when that has aborted.
   */
  send<T>(attempt: (signal: AbortSignal) => Promise<T>, options: RequestOptions): Promise<T>
  /** Counts the failures of something that the caller repeats itself, without a delay. */
  watch(options: Omit<RequestOptions, 'timeoutMs'>): FailureWatch
}

/** The failures of one thing that is repeated. */
export interface FailureWatch {
  /** Whether to try again after a failure. Reports it to `onRetry` if so. */
  mayRepeat(error: unknown): boolean
}

const maxRetries = 4
/** A server that does not answer is asked less often than one that reports an error. */
const maxTimeouts = 3
const defaultDelayMs = 500
const maxDelayMs = 10_000

/**
 * Makes what repeats the requests of any store. `delayMs` is the wait before the first repetition;
 * it doubles up to ten seconds, with a random part. Which errors are transient the store says.
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

/** Says after each failure whether to repeat: it is transient, and timeouts were not too many. */
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
