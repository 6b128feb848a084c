import type { Calendar } from '../config/calendar.ts'
import type { Clock } from './clock.ts'

/** Longest sleep, so that a clock that was set is noticed. */
const MAX_NAP_MS = 30_000

/** A clock that is set back by less than this does not repeat runs. */
const MAX_STEP_BACK_MS = 5 * 60_000

/** A calendar, and the time from which its runs are due. */
export interface Schedule {
  readonly calendar: Calendar
  readonly since: Date
}

/**
 * Calls `onDue` whenever a run is due, until aborted. Does not wait for the run. Adopts a changed
 * schedule within 30 seconds.
 *
 * When the clock jumps forward or the machine slept, all missed runs become one. When the clock is
 * set back by up to five minutes, no run repeats. When it is set back further, the schedule continues
 * from the new time: otherwise no run would start until the old time is reached again.
 */
export async function followSchedule(
  schedule: () => Schedule,
  options: { clock: Clock; signal: AbortSignal; onDue: (due: Date) => void },
): Promise<void> {
  const { clock, signal, onDue } = options
  let followed = schedule()
  let seen = followed.since
  while (!signal.aborted) {
    const now = clock.now()
    if (schedule() !== followed) {
      followed = schedule()
      seen = followed.since
    }
    if (seen.getTime() - now.getTime() > MAX_STEP_BACK_MS) seen = now
    const due = followed.calendar.next(seen)
    if (due !== undefined && due <= now) {
      seen = now
      onDue(due)
    } else {
      const waitMs = due === undefined ? MAX_NAP_MS : due.getTime() - now.getTime()
      await clock.sleep(Math.min(waitMs, MAX_NAP_MS), signal)
    }
  }
}
