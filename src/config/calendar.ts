import { createTask, parse } from 'node-cron'

/** When runs are due, by a cron expression on the clocks of a time zone. Reads no clock. */
export interface Calendar {
  /** The first run after a moment; undefined when there is none in forty years. */
  next(after: Date): Date | undefined
  /** The last run at or before a moment; undefined when there is none in forty years. */
  previous(at: Date): Date | undefined
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MAX_DAYS = 40 * 366

/**
 * Reads a cron expression as node-cron does: day of month and day of week must both match.
 *
 * Where clocks are changed no run is lost and none comes twice: a time that the clocks leap over
 * comes as much later as they leap, a time that they show twice counts the first time. Expressions
 * for every hour follow the hours as they pass. (node-cron's own scheduler drops the run of a day
 * on which its time is leapt over.)
 */
export function createCalendar({ cron, timeZone }: { cron: string; timeZone: string }): Calendar {
  const { hour, minute } = parse(cron)
  const times = hour
    .flatMap((h) => minute.map((m) => h * HOUR_MS + m * MINUTE_MS))
    .sort((a, b) => a - b)
  const [firstTime = 0] = times
  const clocks = createClocks(timeZone, { everyHour: hour.length === 24 })
  // Wall-clock time is matched as if it were UTC; the zone is dealt with here.
  const matcher = createTask(cron, () => {}, { timezone: 'UTC' })
  // Of the task only the matcher is used; destroyed, it is in no list of node-cron's any more.
  matcher.destroy()

  /** The runs of a day on the wall, in order. */
  const runsOf = (day: number): number[] =>
    matcher.match(new Date(day + firstTime)) ? clocks.toInstants(day, times) : []

  function search(from: Date, step: 1 | -1, pick: (runs: number[]) => number | undefined) {
    const today = Math.floor(clocks.wallTime(from.getTime()) / DAY_MS)
    // A run leapt over at midnight belongs to the day before: begin there.
    for (let days = -1; days < MAX_DAYS; days += 1) {
      const found = pick(runsOf((today + step * days) * DAY_MS))
      if (found !== undefined) return new Date(found)
    }
    return undefined
  }

  return {
    next: (after) => search(after, 1, (runs) => runs.find((run) => run > after.getTime())),
    previous: (at) => search(at, -1, (runs) => runs.findLast((run) => run <= at.getTime())),
  }
}

/** The clocks of a time zone. A time on the wall is given in milliseconds, as if it were UTC. */
function createClocks(timeZone: string, { everyHour }: { everyHour: boolean }) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })

  function wallTime(instant: number): number {
    const parts = format.formatToParts(instant)
    const read = (type: string) => Number(parts.find((part) => part.type === type)?.value)
    const time = [read('hour'), read('minute'), read('second')] as const
    return Date.UTC(read('year'), read('month') - 1, read('day'), ...time)
  }

  const offsetAt = (instant: number) => wallTime(instant) - Math.floor(instant / 1000) * 1000

  function toInstants(day: number, times: readonly number[]): number[] {
    const before = offsetAt(day - DAY_MS)
    const after = offsetAt(day + 2 * DAY_MS)
    if (before === after) return times.map((time) => day + time - before)
    const instants = times.flatMap((time) => {
      const wall = day + time
      const shown = [wall - before, wall - after].filter((instant) => wallTime(instant) === wall)
      if (everyHour) return shown
      return shown.length > 0 ? Math.min(...shown) : wall - before
    })
    return [...new Set(instants)].sort((a, b) => a - b)
  }

  return { wallTime, toInstants }
}
