import type { Calendar } from '../config/calendar.ts'
import type { Clock } from './clock.ts'

/** Longest time between two looks at the clock, so that one that was set is noticed. */
const MAX_NAP_MS = 30_000

/** A clock set back by less than this does not make runs come twice. */
const MAX_STEP_BACK_MS = 5 * 60_000

/** When runs are due, and from when on that counts. */
export interface Schedule {
  readonly calendar: Calendar
  readonly since: Date
}

/**
 * Calls `onDue` whenever a run is due, until aborted. It never waits for a run. Follows another
 * schedule at the latest 30 seconds after `schedule` has returned it for the first time.
 *
 * A clock that leaps forward, or a machine that slept, brings one run for all that were due. A
 * clock that is set back by a little brings no run twice; set back by more, the schedule goes by
 * what it shows now, since otherwise it would be silent until the old time comes again.
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
