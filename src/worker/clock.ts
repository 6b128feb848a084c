import { setTimeout as sleep } from 'node:timers/promises'

/** Time, as the worker sees it; tests step it. */
export interface Clock {
  /** What clocks show now. It may be set forward and back at any time. */
  now(): Date
  /** Waits for so long, whatever clocks show. Ends early, without an error, when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** The longest that a timer can wait. */
const MAX_SLEEP_MS = 2 ** 31 - 1

/** The clock of this machine. */
export function systemClock(now: () => Date): Clock {
  return {
    now,
    async sleep(ms, signal) {
      await sleep(Math.min(ms, MAX_SLEEP_MS), undefined, { signal }).catch(() => {})
    },
  }
}
