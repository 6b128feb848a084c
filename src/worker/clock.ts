import { setTimeout as sleep } from 'node:timers/promises'

/** A clock that tests can step. */
export interface Clock {
  /** The current time. May be set forward or back at any time. */
  now(): Date
  /** Waits `ms`, even if the clock is set. Resolves early, without an error, when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Longest time that a timer can wait. */
const MAX_SLEEP_MS = 2 ** 31 - 1

/** The machine's clock. */
export function systemClock(now: () => Date): Clock {
  return {
    now,
    async sleep(ms, signal) {
      await sleep(Math.min(ms, MAX_SLEEP_MS), undefined, { signal }).catch(() => {})
    },
  }
}
