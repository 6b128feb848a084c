import { describe, expect, it } from 'vitest'
import { planPrune } from '../../src/archive/prune.ts'
import type { DueRuns, RunSpan } from '../../src/report/due-runs.ts'
import type { AccountReport, Report } from '../../src/report/report.ts'
import { leaveOut } from '../left-out.ts'
import { countAgain } from './count-again.ts'
import { openReport } from './open-report.ts'
import type { SimulatedAccount } from './simulated-account.ts'
import { early, gone, late, type SimulatedYear, simulateYear } from './simulated-year.ts'

const allSeeds = process.env.DASHKEEP_TEST_LOAD === '1'
const seeds = allSeeds ? [1, 2, 3, 4] : [1]
if (!allSeeds) leaveOut('three more simulated years of reports', 'with DASHKEEP_TEST_LOAD=1')

/** A configured account of which no run ever succeeded. */
const never = 104

const years = new Map<number, Promise<SimulatedYear>>()

describe('the report of a simulated year with failures', () => {
  it.each(seeds)(
    'has the numbers of an independent count (seed %i)',
    async (seed) => {
      const year = await yearOf(seed)
      const { accounts, unread } = await report(year)
      expect(unread).toEqual([])
      expect(accounts.map(({ accountId }) => accountId)).toEqual([early, late, gone, never])
      for (const account of year.accounts) {
        const found = accounts.find(({ accountId }) => accountId === account.accountId)
        expect(found && flatten(found, year)).toEqual(countAgain(account, year))
        expect(found?.retention).toEqual(await countKept(account, year))
      }
      expect(accounts.at(-1)).toMatchObject({
        configuredAs: `team-${never}`,
        attention: ['the archive has no snapshot'],
      })
    },
    180_000,
  )

  it.skipIf(!allSeeds)(
    'meets every kind of number in some seed',
    async () => {
      const all = await Promise.all(seeds.map(yearOf))
      const counted = all.flatMap((year) => year.accounts.map((one) => countAgain(one, year)))
      const total = (pick: (one: (typeof counted)[number]) => number | undefined) =>
        counted.reduce((sum, one) => sum + (pick(one) ?? 0), 0)
      const isFollowed = (wanted: boolean | undefined) => (one: (typeof counted)[number]) =>
        one.suspects.filter(({ followedBy }) => followedBy?.accepted === wanted).length
      const numbers = {
        made: total(({ runs }) => runs?.made),
        damaged: total(({ runs }) => runs?.damaged),
        suspect: total(({ runs }) => runs?.suspect),
        missed: total(({ runs }) => runs?.missed),
        unknown: total(({ runs }) => runs?.unknown),
        extra: total(({ runs }) => runs?.extra),
        beforeFirst: total(({ runs }) => runs?.beforeFirst),
        pending: total(({ runs }) => Number(runs?.pending)),
        removed: total(({ taken }) => taken.removed),
        unfinished: total(({ unfinished }) => unfinished.length),
        fromFuture: total(({ fromFuture }) => fromFuture.length),
        pinned: total(({ pinned }) => pinned),
        recovered: total(isFollowed(false)),
        accepted: total(isFollowed(true)),
        stillSuspect: total(isFollowed(undefined)),
        openChecks: total(({ checks }) => checks.verify.open + checks.drill.open),
        locked: total(({ locks }) => locks.newest),
        notLocked: total(({ locks }) => Number(locks.newest === undefined)),
      }
      expect(Object.entries(numbers).filter(([, number]) => number === 0)).toEqual([])
    },
    180_000,
  )
})

function yearOf(seed: number): Promise<SimulatedYear> {
  const year = years.get(seed) ?? simulateYear(seed)
  years.set(seed, year)
  return year
}

/** What `prune` itself would keep and remove. Snapshots from the future always stay. */
async function countKept({ accountId, fromFuture }: SimulatedAccount, year: SimulatedYear) {
  const { store, policy, now } = year
  const [plan] = await Array.fromAsync(planPrune(store, policy, { now, accountId }))
  const { length: kept = 0 } = plan?.decisions.filter(({ keep }) => keep) ?? []
  return {
    kept: kept - fromFuture.length,
    removable: (plan?.decisions.length ?? 0) - kept,
  }
}

function report({ store, timeZone, hours, policy, since, now }: SimulatedYear): Promise<Report> {
  const { withinMs, ...rules } = policy
  const within = withinMs === undefined ? undefined : `${withinMs / 1000}s`
  const schedule = { cron: `30 ${hours.join()} * * *`, timeZone }
  const file = { schedule, retention: { ...rules, within } }
  return openReport(store, { since, now }, { file, accountIds: [early, late, never] })
}

/** The same facts of a report in the form in which the simulation counts them. */
function flatten(found: AccountReport, year: SimulatedYear) {
  const { accountId, name, configuredAs, isConfigured, runs, longestGap, damaged, proofs } = found
  const seconds = (time: Date | undefined) => time && Math.floor(time.getTime() / 1000)
  const ofKind = (kind: 'verify' | 'drill') => {
    const { good, failed, newestGood } = proofs[kind]
    const open = proofs.failures.filter((one) => one.kind === kind && one.isOpen).length
    return { good, failed, newest: newestGood?.startedAt, open }
  }
  return {
    ...{ accountId, name, configuredAs, isConfigured },
    runs: runs && describeRuns(runs, year),
    taken: found.taken,
    first: found.first,
    newest: found.newest,
    begin: found.begin,
    end: found.end,
    longestGapMs: longestGap && longestGap.to.getTime() - longestGap.from.getTime(),
    suspects: found.suspects.map(({ takenAt, objects, followedBy }) => {
      if (followedBy === undefined) return { takenAt, objects, followedBy }
      const { snapshot, objects: then, accepted } = followedBy
      return { takenAt, objects, followedBy: { snapshot, objects: then, accepted } }
    }),
    damaged: damaged.flatMap(({ snapshots }) => snapshots).sort(),
    fromFuture: found.fromFuture,
    unfinished: found.unfinished,
    pinned: found.pinned,
    checks: { verify: ofKind('verify'), drill: ofKind('drill') },
    locks: { oldest: seconds(found.locks?.oldest), newest: seconds(found.locks?.newest) },
    snapshots: found.stored.snapshots,
    now: year.now,
  }
}

/** The runs with every due time of each span. */
function describeRuns({ spans, ...counts }: DueRuns, { due }: SimulatedYear) {
  const expand = (list: readonly RunSpan[]) =>
    list.flatMap(({ from, to, runs }) => {
      const times = due.filter((time) => time >= from && time <= to)
      expect(times).toHaveLength(runs)
      return times
    })
  const times = Object.entries(spans).map(([state, list]) => [state, expand(list)])
  return { ...counts, times: Object.fromEntries(times) }
}
