import fc from 'fast-check'
import { createTask, validate } from 'node-cron'
import { describe, expect, it } from 'vitest'
import { createCalendar } from '../../src/config/calendar.ts'

/** The next runs after a moment, as ISO text to the minute. */
function runsAfter(cron: string, timeZone: string, after: string, count: number): string[] {
  const calendar = createCalendar({ cron, timeZone })
  const runs: string[] = []
  let moment: Date | undefined = new Date(after)
  while (runs.length < count) {
    moment = calendar.next(moment)
    if (moment === undefined) break
    runs.push(moment.toISOString().slice(0, 16))
  }
  return runs
}

describe('a calendar', () => {
  it('follows the clocks of its zone through the year', () => {
    expect(runsAfter('15 3 * * *', 'Europe/Berlin', '2026-10-23T12:00:00Z', 4)).toEqual([
      '2026-10-24T01:15',
      '2026-10-25T02:15',
      '2026-10-26T02:15',
      '2026-10-27T02:15',
    ])
  })

  it('runs later, not never, when a clock change skips its time', () => {
    expect(runsAfter('30 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', 2)).toEqual([
      '2027-03-28T01:30',
      '2027-03-29T00:30',
    ])
  })

  it('runs once when its time occurs twice', () => {
    expect(runsAfter('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
  })

  it('runs every half hour across clock changes', () => {
    const everyHalfHour = (from: string) => runsAfter('*/30 * * * *', 'Europe/Berlin', from, 48)
    for (const from of ['2026-10-24T20:00:00Z', '2027-03-27T20:00:00Z']) {
      const times = everyHalfHour(from).map((run) => Date.parse(`${run}Z`))
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
      expect(new Set(gaps)).toEqual(new Set([30 * 60_000]))
    }
  })

  it.each([
    // Clock changes at midnight, by half an hour, and by a whole day.
    [
      '30 0 * * *',
      'Africa/Cairo',
      '2026-04-23T12:00:00Z',
      ['2026-04-23T22:30', '2026-04-24T21:30'],
    ],
    [
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T12:00:00Z',
      ['2026-10-03T15:45', '2026-10-04T15:15'],
    ],
    [
      '0 3 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      ['2011-12-29T13:00', '2011-12-30T13:00', '2011-12-31T13:00'],
    ],
  ])('handles %s in %s', (cron, zone, from, expected) => {
    expect(runsAfter(cron, zone, from, expected.length)).toEqual(expected)
  })

  it.each([
    ['0 4 * * 1', ['2026-11-23T04:00', '2026-11-30T04:00']],
    ['0 4 L * *', ['2026-11-30T04:00', '2026-12-31T04:00']],
    ['0 0 29 2 *', ['2028-02-29T00:00', '2032-02-29T00:00']],
    ['@hourly', ['2026-11-21T13:00', '2026-11-21T14:00']],
    ['5,20 8-9 * nov sat', ['2026-11-28T08:05', '2026-11-28T08:20']],
  ])('reads %s', (cron, expected) => {
    expect(runsAfter(cron, 'UTC', '2026-11-21T12:30:00Z', 2)).toEqual(expected)
  })

  it('is due on the days on which node-cron matches', () => {
    const daysOfMonth = [
      '*',
      '1',
      '31',
      '28-2',
      '*/9',
      'L',
      'L-3',
      'L-30',
      '1W',
      '15W',
      '31W',
      'LW',
    ]
    const months = ['*', '2', '4,jun', '*/5']
    const daysOfWeek = ['*', '0', '7', '5L', '7L', 'fri#2', '1#5', '6-1', 'mon,3#1']
    fc.assert(
      fc.property(
        fc.constantFrom(...daysOfMonth),
        fc.constantFrom(...months),
        fc.constantFrom(...daysOfWeek),
        fc.integer({ min: 0, max: 5000 }),
        (dayOfMonth, month, dayOfWeek, day) => {
          const cron = `0 12 ${dayOfMonth} ${month} ${dayOfWeek}`
          fc.pre(validate(cron))
          const task = createTask(cron, () => {}, { timezone: 'UTC' })
          task.destroy()
          const noon = new Date(Date.UTC(2024, 0, 1 + day, 12))
          const run = createCalendar({ cron, timeZone: 'UTC' }).previous(noon)
          expect(run?.getTime() === noon.getTime()).toBe(task.match(noon))
        },
      ),
      { seed: 7, numRuns: 400 },
    )
  })

  it('finds the previous run, which may be at that very moment', () => {
    const calendar = createCalendar({ cron: '15 3 * * *', timeZone: 'Europe/Berlin' })
    const run = new Date('2026-11-21T02:15:00Z')
    expect(calendar.previous(run)).toEqual(run)
    expect(calendar.previous(new Date(run.getTime() - 1))).toEqual(new Date('2026-11-20T02:15:00Z'))
  })

  it('always advances, and finds backwards what it found forwards', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Africa/Cairo', 'Pacific/Chatham']
    const crons = ['30 2 * * *', '*/7 * * * *', '0 0,12 * * *', '59 23 * * 0', '15 1-3 * * *']
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...crons),
        fc.date({ min: new Date('2026-01-01'), max: new Date('2028-01-01'), noInvalidDate: true }),
        (timeZone, cron, moment) => {
          const calendar = createCalendar({ cron, timeZone })
          const next = calendar.next(moment)
          expect(next?.getTime()).toBeGreaterThan(moment.getTime())
          expect(calendar.previous(next ?? moment)).toEqual(next)
          expect(
            calendar.previous(new Date((next?.getTime() ?? 0) - 1))?.getTime(),
          ).toBeLessThanOrEqual(moment.getTime())
        },
      ),
      { seed: 5, numRuns: 300 },
    )
  })
})
