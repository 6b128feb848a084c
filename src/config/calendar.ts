import { parse } from 'node-cron'

/** Calculates when runs are due from a cron expression in a time zone. Reads no clock. */
export interface Calendar {
  /** The first run after `after`; undefined when there is none in forty years. */
  next(after: Date): Date | undefined
  /** The last run at or before `at`; undefined when there is none in forty years. */
  previous(at: Date): Date | undefined
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MAX_DAYS = 40 * 366

/**
 * Creates the calendar of a valid cron expression. Day of month and day of week must both match.
 *
 * node-cron parses the expression. It has no previous run, its next run reads the machine's clock,
 * and its scheduler drops a run whose time a clock change skips. This calendar does not: such a run
 * is due later by the length of the change, and a time that occurs twice is due the first time.
 * Expressions that name every hour are due in every hour that passes.
 */
export function createCalendar({ cron, timeZone }: { cron: string; timeZone: string }): Calendar {
  const fields = parse(cron)
  const times = fields.hour
    .flatMap((hour) => fields.minute.map((minute) => hour * HOUR_MS + minute * MINUTE_MS))
    .sort((a, b) => a - b)
  const clocks = createClocks(timeZone, { everyHour: fields.hour.length === 24 })

  const runsOf = (day: number) =>
    matchesDay(fields, new Date(day)) ? clocks.toInstants(day, times) : []

  function search(from: Date, step: 1 | -1, pick: (runs: number[]) => number | undefined) {
    const today = Math.floor(clocks.wallTime(from.getTime()) / DAY_MS)
    // A run that a clock change moves past midnight belongs to the day before: start there.
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

/** Whether day of month, month and day of week of a date (UTC) match the fields. */
function matchesDay(
  { dayOfMonth, month, dayOfWeek }: ReturnType<typeof parse>,
  date: Date,
): boolean {
  const day = date.getUTCDate()
  const weekday = date.getUTCDay()
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return (
    month.includes(date.getUTCMonth() + 1) &&
    dayOfMonth.some((token) => dayOf(token, { day, weekday, lastDay }) === day) &&
    dayOfWeek.some((token) => {
      if (typeof token === 'number') return token === weekday
      // `5#2` is the second Friday of the month, `5L` the last one.
      const nth = token[1] === '#' ? Number(token[2]) : undefined
      const isNth = nth === undefined ? day > lastDay - 7 : Math.ceil(day / 7) === nth
      return Number(token[0]) === weekday && isNth
    })
  )
}

/** The day of the month that a token names: `15`, `L` (last), `L-3`, `15W` or `LW` (nearest workday). */
function dayOf(
  token: number | string,
  { day, weekday, lastDay }: { day: number; weekday: number; lastDay: number },
): number | undefined {
  if (typeof token === 'number') return token
  if (!token.endsWith('W')) return lastDay - Number(token.slice(2))
  const target = token === 'LW' ? lastDay : Number.parseInt(token, 10)
  if (target > lastDay) return undefined
  const targetWeekday = (((weekday + target - day) % 7) + 7) % 7
  if (targetWeekday === 6) return target === 1 ? 3 : target - 1
  if (targetWeekday === 0) return target === lastDay ? target - 2 : target + 1
  return target
}

/** The clocks of a time zone. Wall time is given in milliseconds, as if it were UTC. */
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

  /** The instants, in order, at which the clocks show these times on a day. */
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
