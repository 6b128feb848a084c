import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/worker/clock.ts'

/** A clock that advances only when it is stepped or set. */
export interface SteppedClock extends Clock {
  /** Advances the clock by `ms`. Each sleep that ends meanwhile resolves at its time. */
  step(ms: number): Promise<void>
  /** Sets the time of the clock. No time passes for sleeps. */
  set(to: string): void
}

export const minutes = 60_000
export const hours = 60 * minutes

export function createSteppedClock(start: string): SteppedClock {
  let shown = Date.parse(start)
  let passed = 0
  const sleepers = new Map<() => void, number>()

  async function passUntil(moment: number): Promise<void> {
    shown += moment - passed
    passed = moment
    for (const [wake, wakeAt] of sleepers) if (wakeAt <= passed) wake()
    // Resumed code may run on and sleep again.
    await turn()
    await turn()
  }

  return {
    now: () => new Date(shown),
    sleep(ms, signal) {
      if (signal.aborted || ms <= 0) return Promise.resolve()
      return new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        sleepers.set(wake, passed + ms)
        signal.addEventListener('abort', wake)
      })
    },
    async step(ms) {
      const end = passed + ms
      for (let next = firstOf(sleepers); next <= end; next = firstOf(sleepers)) {
        await passUntil(next)
      }
      await passUntil(end)
    },
    set(to) {
      shown = Date.parse(to)
    },
  }
}

function firstOf(sleepers: ReadonlyMap<unknown, number>): number {
  return Math.min(...sleepers.values())
}
