import { describe, expect, it } from 'vitest'
import { createCalendar } from '../../src/config/calendar.ts'
import { countDueRuns, listDue } from '../../src/report/due-runs.ts'
import type { ReadSnapshot } from '../../src/report/read-snapshot.ts'
import { halfPast, zoneNames } from './simulated-zone.ts'

const hourMs = 3600_000
const now = new Date('2026-11-10T12:00:00Z')

/** A snapshot at 03:20 of a day of November, and the day of the one before it. */
function taken(
  day: number,
  previous: number | undefined,
  state: ReadSnapshot['state'] | 'unreadable' = 'good',
): ReadSnapshot {
  const before = previous && { previous: { snapshot: nameOf(previous), manifestSha256: '' } }
  const manifest = state === 'unreadable' ? undefined : { ...before }
  const time = new Date(Date.UTC(2026, 10, day, 3, 20))
  const judged = state === 'unreadable' ? 'damaged' : state
  return { snapshot: nameOf(day), takenAt: time, state: judged, manifest } as ReadSnapshot
}

function nameOf(day: number): string {
  return `202611${String(day).padStart(2, '0')}T032000Z-000000`
}

/** The due runs from the fifth to the tenth, each at 03:00. */
function count(...snapshots: ReadSnapshot[]) {
  const due = [5, 6, 7, 8, 9, 10].map((day) => new Date(Date.UTC(2026, 10, day, 3)))
  return countDueRuns(snapshots, due, { now, graceMs: 6 * hourMs })
}

const days = (spans: readonly { from: Date; to: Date }[]) =>
  spans.map(({ from, to }) => [from.getUTCDate(), to.getUTCDate()])

describe('a due run', () => {
  it('is missed when the next snapshot names an older one as the previous', () => {
    const runs = count(taken(5, 4), taken(8, 5), taken(10, 8))
    expect(runs).toMatchObject({ due: 6, made: 3, missed: 3, unknown: 0 })
    expect(days(runs.spans.missed)).toEqual([
      [6, 7],
      [9, 9],
    ])
  })

  it('may be in progress although the next one is due already', () => {
    const due = [5, 6, 7, 8, 9, 10].map((day) => new Date(Date.UTC(2026, 10, day, 3)))
    const graceMs = 34 * hourMs
    const during = countDueRuns([taken(5, 4), taken(8, 5)], due, { now, graceMs })
    expect(during).toMatchObject({ due: 4, made: 2, missed: 2, pending: true })
    // The run of the tenth has ended, so the one of the ninth cannot be in progress.
    const after = countDueRuns([taken(5, 4), taken(8, 5), taken(10, 8)], due, { now, graceMs })
    expect(after).toMatchObject({ due: 6, made: 3, missed: 3, pending: false })
  })

  it('is not known when the next snapshot names one that is gone', () => {
    const runs = count(taken(5, 4), taken(9, 7), taken(10, 9))
    expect(runs).toMatchObject({ due: 6, made: 3, missed: 1, unknown: 2 })
    expect(days(runs.spans.unknown)).toEqual([[6, 7]])
    expect(days(runs.spans.missed)).toEqual([[8, 8]])
  })

  it('is not known before a snapshot whose manifest cannot be read', () => {
    const runs = count(taken(5, 4), taken(8, undefined, 'unreadable'), taken(9, 8), taken(10, 9))
    expect(runs).toMatchObject({ made: 3, damaged: 1, unknown: 2 })
  })

  it('is not due before the first snapshot of all', () => {
    expect(count(taken(8, undefined), taken(9, 8), taken(10, 9))).toMatchObject({
      ...{ due: 3, made: 3, missed: 0, beforeFirst: 3 },
    })
    expect(count(taken(8, 2), taken(9, 8), taken(10, 9))).toMatchObject({
      ...{ due: 6, made: 3, missed: 3, beforeFirst: 0 },
    })
    expect(count()).toMatchObject({ due: 0, missed: 0, beforeFirst: 6 })
  })

  it('is made by a good snapshot until the next is due, and others of this time are extra', () => {
    const suspect = taken(6, 5, 'suspect')
    const caughtUp = { ...taken(7, 6), takenAt: new Date('2026-11-07T02:59:59Z') }
    const runs = count(taken(5, 4), taken(5, 5), suspect, caughtUp, taken(10, 6))
    expect(runs).toMatchObject({ made: 3, suspect: 0, missed: 3, extra: 1 })
  })

  it('is suspect or damaged when no good snapshot was taken in its time', () => {
    const bad = [taken(6, 5, 'suspect'), taken(7, 6, 'damaged'), taken(8, 7, 'suspect')]
    expect(count(taken(5, 4), ...bad, taken(9, 8), taken(10, 9))).toMatchObject({
      ...{ due: 6, made: 3, suspect: 2, damaged: 1, missed: 0 },
    })
  })
})

describe('the list of due runs', () => {
  it.each(zoneNames)('has each day of a year in %s once, also where clocks change', (timeZone) => {
    const span = { since: new Date('2026-01-03'), now: new Date('2026-12-29') }
    for (const hour of [1, 2, 14]) {
      const expected = halfPast(timeZone, [hour])
      const calendar = createCalendar({ cron: `30 ${hour} * * *`, timeZone })
      expect(listDue(calendar, span)).toEqual(
        expected.filter((time) => time >= span.since && time <= span.now),
      )
    }
  })

  it('begins with a run that is due at the first moment, and ends with one at the last', () => {
    const calendar = createCalendar({ cron: '0 3 * * *', timeZone: 'UTC' })
    const since = new Date('2026-11-05T03:00:00Z')
    const due = listDue(calendar, { since, now: new Date('2026-11-07T03:00:00Z') })
    expect(due.map((time) => time.getUTCDate())).toEqual([5, 6, 7])
  })

  it('has a limit', () => {
    const step = (ms: number) => (from: Date) => new Date(from.getTime() + ms)
    const calendar = { next: step(60_000), previous: step(-60_000) }
    const span = (runs: number) => ({ since: new Date(now.getTime() - runs * 60_000), now })
    expect(listDue(calendar, span(50_000))).toHaveLength(50_000)
    expect(() => listDue(calendar, span(50_001))).toThrow(/more than 50000 runs were due/)
  })
})
