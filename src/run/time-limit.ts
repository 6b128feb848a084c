// Tested by test/e2e/copy.test.ts

import { DashkeepError } from '../errors.ts'

/** A limit for the time of a step after the backup. */
interface TimeLimit {
  /** Aborts when the process is stopped, when the run has taken too long, and when the step has. */
  readonly signal: AbortSignal
  /** The error that ended the step. Throws it when the process was stopped. */
  explain(error: unknown): Error
}

/** Starts a limit. `message` and `hint` make the error of a step that takes too long. */
export function createTimeLimit(
  { signal, deadline }: { signal?: AbortSignal | undefined; deadline?: AbortSignal | undefined },
  { ms, message, hint }: { ms: number; message: string; hint: string },
): TimeLimit {
  const limit = AbortSignal.timeout(ms)
  const signals = [signal, deadline, limit].filter((one) => one !== undefined)
  return {
    signal: AbortSignal.any(signals),
    explain(error) {
      signal?.throwIfAborted()
      if (deadline?.aborted) return deadline.reason as Error
      if (!limit.aborted) return error as Error
      return new DashkeepError(message, { hint, cause: error })
    },
  }
}
