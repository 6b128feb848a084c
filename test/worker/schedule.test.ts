import { describe, expect, it } from 'vitest'
import { createCalendar } from '../../src/config/calendar.ts'
import { followSchedule } from '../../src/worker/schedule.ts'
import { createSteppedClock, hours, minutes } from './stepped-clock.ts'

const days = 24 * hours

/** Follows a schedule from a moment on; `runs` is when the clock showed that one was due. */
function follow(cron: string, timeZone: string, start: string) {
  const clock = createSteppedClock(start)
  const runs: string[] = []
  const stop = new AbortController()
  const change = (to: string) => {
    schedule = { calendar: createCalendar({ cron: to, timeZone }), since: clock.now() }
  }
  let schedule = { calendar: createCalendar({ cron, timeZone }), since: clock.now() }
  const ended = followSchedule(() => schedule, {
    clock,
    signal: stop.signal,
    onDue: () => runs.push(clock.now().toISOString().slice(5, 16)),
  })
  return { clock, runs, stop, ended, change }
}

describe('a schedule', () => {
  it('is kept on the clocks of its zone when summer ends', async () => {
    const { clock, runs } = follow('30 2 * * *', 'Europe/Berlin', '2026-10-23T12:00:00Z')
    await clock.step(4 * days)
    expect(runs).toEqual(['10-24T00:30', '10-25T00:30', '10-26T01:30', '10-27T01:30'])
  })

  it('loses no day when summer begins', async () => {
    const { clock, runs } = follow('30 2 * * *', 'Europe/Berlin', '2027-03-26T12:00:00Z')
    await clock.step(3 * days)
    expect(runs).toEqual(['03-27T01:30', '03-28T01:30', '03-29T00:30'])
  })

  it('brings one run for all that a leap forward has passed over', async () => {
    const { clock, runs } = follow('15 * * * *', 'UTC', '2026-11-20T12:00:00Z')
    clock.set('2026-11-22T12:00:00Z')
    await clock.step(20 * minutes)
    expect(runs).toEqual(['11-22T12:00', '11-22T12:15'])
  })

  it('brings no run twice when the clock is set back by a moment', async () => {
    const { clock, runs } = follow('15 3 * * *', 'UTC', '2026-11-20T03:14:00Z')
    await clock.step(2 * minutes)
    clock.set('2026-11-20T03:14:30Z')
    await clock.step(12 * hours)
    expect(runs).toEqual(['11-20T03:15'])
  })

  it('goes by the new time when the clock is set back by much', async () => {
    const { clock, runs } = follow('15 3 * * *', 'UTC', '2027-11-20T03:14:00Z')
    await clock.step(2 * minutes)
    clock.set('2026-11-20T12:00:00Z')
    await clock.step(1 * days)
    expect(runs).toEqual(['11-20T03:15', '11-21T03:15'])
  })

  it('is followed from the moment of its change, not for times before', async () => {
    const { clock, runs, change } = follow('15 3 * * *', 'UTC', '2026-11-20T12:00:00Z')
    await clock.step(10 * minutes)
    change('5 12 * * *')
    await clock.step(10 * minutes)
    change('30,40 12 * * *')
    await clock.step(1 * hours)
    expect(runs).toEqual(['11-20T12:30', '11-20T12:40'])
  })

  it('ends when told to', async () => {
    const { clock, runs, stop, ended } = follow('* * * * *', 'UTC', '2026-11-20T12:00:00Z')
    await clock.step(2 * minutes)
    stop.abort()
    await ended
    await clock.step(2 * minutes)
    expect(runs).toEqual(['11-20T12:01', '11-20T12:02'])
  })
})
