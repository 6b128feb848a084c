import { setTimeout as wait } from 'node:timers/promises'

/** A value that is read in the background and kept, so that readers need not wait for it. */
export interface Kept<Value> {
  /** The newest value, with the time when its read began; undefined before the first read has ended. */
  readonly last: { readonly value: Value; readonly readAt: Date } | undefined
  /** Why the newest read failed; undefined when it succeeded. */
  readonly problem: Error | undefined
  readonly isReading: boolean
  /**
   * Begins to read when the value is older than `maxAgeMs` and no read is going on. Resolves when the
   * read has ended, also when it has failed.
   */
  refresh(maxAgeMs: number): Promise<void>
}

/** Creates a kept value. Nothing is read before the first `refresh`. */
export function createKept<Value>(
  read: (readAt: Date) => Promise<Value>,
  now: () => Date,
): Kept<Value> {
  let reading: Promise<void> | undefined
  let last: Kept<Value>['last']
  let problem: Error | undefined
  const readOnce = async (readAt: Date) => {
    try {
      last = { value: await read(readAt), readAt }
      problem = undefined
    } catch (error) {
      problem = error as Error
    } finally {
      reading = undefined
    }
  }
  return {
    get last() {
      return last
    },
    get problem() {
      return problem
    },
    get isReading() {
      return reading !== undefined
    },
    async refresh(maxAgeMs) {
      const isFresh =
        problem === undefined && last !== undefined && ageOf(last.readAt, now()) < maxAgeMs
      if (isFresh) return
      reading ??= readOnce(now())
      await reading
    },
  }
}

/** Milliseconds since `time`. A clock that was set back makes it infinite. */
function ageOf(time: Date, now: Date): number {
  const age = now.getTime() - time.getTime()
  return age < 0 ? Number.POSITIVE_INFINITY : age
}

/** The value of a promise; undefined when it takes longer than `ms`. */
export async function waitAtMost<Value>(
  ms: number,
  promise: Promise<Value>,
): Promise<Value | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([promise, wait(ms, undefined, { signal: done.signal })])
  } finally {
    done.abort()
  }
}
