import { afterEach, describe, expect, it, vi } from 'vitest'
import { jsonLines } from '../e2e/run-dashkeep.ts'
import { startTrial } from '../e2e/trial.ts'
import { backUpEachDate, corpus, places, reportLeftOut, stubCredentials } from './corpus.ts'

reportLeftOut('five years of real changes')

const dayMs = 24 * 3600_000

afterEach(() => {
  vi.unstubAllEnvs()
})

describe.skipIf(corpus === '')('five years of real changes', () => {
  it.each(places)(
    'are reported, and thinned out in %s as the rules say',
    async (_name, makePlace) => {
      await using place = await makePlace()
      stubCredentials(place)
      await using trial = await startTrial()
      const dates = await backUpEachDate(trial, place)
      const taken = await place.keys()
      expect([...new Set(taken.map(dateOf))]).toEqual(dates)
      expect(taken).toHaveLength(175 * 4)

      const stay = expectedToStay(dates)
      expect(stay.size).toBe(17)
      const rules = ['daily=7', 'weekly=4', 'monthly=12', 'yearly=10'].map(
        (rule) => `--keep-${rule}`,
      )
      const dayAfter = new Date(Date.parse(dates.at(-1) ?? '') + dayMs)
      const reportRuns = async () => {
        const weekly = { schedule: { cron: '0 0 * * 1' } }
        const env = { ...place.env, DASHKEEP_CONFIG: await trial.write('weekly.yaml', weekly) }
        const args = ['report', '--since', '2016-01-01', '--json']
        const { stdout } = await trial.runAt(dayAfter, args, env)
        return JSON.parse(stdout).accounts[0].runs
      }
      const weeks = new Set(dates.map(weekOf))
      const due = Math.max(...weeks) - Math.min(...weeks) + 1
      const missed = due - weeks.size
      expect(await reportRuns()).toMatchObject({ due, made: weeks.size, missed, unknown: 0 })

      const pruned = await trial.runAt(dayAfter, ['prune', '--json', '--yes', ...rules], place.env)
      expect(pruned.exitCode).toBe(0)
      expect(jsonLines(pruned.stdout)).toMatchObject([{ removed: 158, failed: [] }])

      expect(await place.keys()).toEqual(taken.filter((key) => stay.has(dateOf(key))))
      const verified = await trial.run(['verify', '--json'], place.env)
      expect(verified.exitCode).toBe(0)
      expect(jsonLines(verified.stdout)).toMatchObject([{ snapshots: 17, defects: 0 }])

      const left = new Set([...stay].map(weekOf)).size
      const { made, unknown, missed: stillProven } = await reportRuns()
      expect({ made, isHonest: unknown > 0 && stillProven < missed }).toEqual({
        made: left,
        isHonest: true,
      })
    },
    600_000,
  )
})

/** `2016-03-07` for a key such as `100001/20160307T000000Z-4f2a1c/manifest.json`. */
function dateOf(key: string): string {
  return key.replace(/^\d+\/(\d{4})(\d\d)(\d\d)T.*$/, '$1-$2-$3')
}

/** The number of a week. Weeks are counted from Monday, 29 December 1969. */
function weekOf(date: string): number {
  return Math.floor((Date.parse(date) / dayMs + 3) / 7)
}

/**
 * The rules once more, in the simplest way: the last date of each day, week, month and year, as
 * many of the newest as each rule has.
 */
function expectedToStay(dates: readonly string[]): Set<string> {
  const rules: [number, (date: string) => string | number][] = [
    [7, (date) => date],
    [4, weekOf],
    [12, (date) => date.slice(0, 7)],
    [10, (date) => date.slice(0, 4)],
  ]
  const stay = rules.map(([number, period]) => {
    const lastOfEach = new Map(dates.map((date) => [period(date), date]))
    return [...lastOfEach.values()].slice(-number)
  })
  return new Set(stay.flat())
}
