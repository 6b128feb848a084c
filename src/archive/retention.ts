import { compareValues } from '../order.ts'
import { isFromFuture, splitByTime } from './future.ts'

/**
 * How many snapshots to keep. A rule such as `daily: 7` keeps the newest snapshot of each of the newest
 * 7 days that have one. A snapshot is kept when any rule keeps it. Periods are in UTC. Weeks begin on
 * Monday (ISO 8601).
 */
export interface RetentionPolicy {
  readonly last?: number | undefined
  readonly hourly?: number | undefined
  readonly daily?: number | undefined
  readonly weekly?: number | undefined
  readonly monthly?: number | undefined
  readonly yearly?: number | undefined
  /**
   * Keeps all snapshots that are at most this much older than the newest one. The clock does not count,
   * because it may have been set forward.
   */
  readonly withinMs?: number | undefined
}

/** The facts about a snapshot that decide whether it is kept. */
export interface RetentionCandidate {
  readonly snapshot: string
  readonly takenAt: Date
  /** Whether it is suspect, or its files are missing, cut short, or found damaged by `verify`. */
  readonly suspect: boolean
  /** The snapshot whose files it shares; undefined when it has its own files. */
  readonly sameAs: string | undefined
  readonly pinned: boolean
  /** The types of its exports. */
  readonly types: readonly string[]
}

/** Whether a snapshot is kept, and all reasons. */
export interface RetentionDecision<Candidate extends RetentionCandidate = RetentionCandidate> {
  readonly candidate: Candidate
  readonly keep: boolean
  /** Why it is kept, or why it is not. */
  readonly reasons: readonly string[]
}

/** For each rule, the period of a time, as text. */
const periods: Record<
  'hourly' | 'daily' | 'weekly' | 'monthly' | 'yearly',
  (time: Date) => string
> = {
  hourly: (time) => `hour ${time.toISOString().slice(0, 13).replace('T', ' ')}h`,
  daily: (time) => `day ${time.toISOString().slice(0, 10)}`,
  weekly: (time) => `week ${isoWeek(time)}`,
  monthly: (time) => `month ${time.toISOString().slice(0, 7)}`,
  yearly: (time) => `year ${time.toISOString().slice(0, 4)}`,
}

/**
 * Decides which snapshots of an account to keep, and why. Returns the newest first. Pure: reads no clock
 * and no store.
 *
 * Suspect snapshots and those from the future do not count for rules, so that a bad backup never
 * replaces a good one. A suspect snapshot is kept until a good one follows. These are always kept:
 *
 * - the newest good snapshot, and the newest good one with each type that it lacks
 * - pinned snapshots, and those from the future
 * - one that was the newest less than an hour ago, because a run in progress may refer to it
 * - every snapshot whose files a kept one shares
 *
 * A policy without rules keeps everything.
 */
export function planRetention<Candidate extends RetentionCandidate>(
  candidates: readonly Candidate[],
  policy: RetentionPolicy,
  { now }: { now: Date },
): RetentionDecision<Candidate>[] {
  const { newestFirst, past, reasons, keep } = beginReasons(candidates, now)
  const good = past.filter(({ suspect }) => !suspect)

  if (isEmpty(policy)) for (const candidate of newestFirst) keep(candidate, 'no rule is given')
  for (const candidate of good.slice(0, policy.last ?? 0)) {
    keep(candidate, `among the newest ${policy.last}`)
  }
  for (const rule of Object.keys(periods) as (keyof typeof periods)[]) {
    keepByPeriod(good, { rule, number: policy[rule] ?? 0 }, keep)
  }
  const context = { newestGood: good[0], policy, youngerThan: beginOfWithin(past, policy), now }
  for (const candidate of newestFirst) {
    for (const reason of ownReasons(candidate, context)) keep(candidate, reason)
  }
  keepTypes(good, keep)
  keepInUse(past, now, keep)
  keepShared(newestFirst, reasons, keep)
  return toDecisions(newestFirst, reasons, ({ suspect }) =>
    suspect ? 'suspect or damaged, and a good one has followed' : 'no rule keeps it',
  )
}

/**
 * Decides which of the named snapshots may be removed. Returns the newest first. Pure.
 *
 * A named snapshot still stays when it is the newest good one, is pinned, was the newest less than an
 * hour ago, or when a remaining snapshot shares its files. All stay while every good snapshot is from
 * the future.
 */
export function planRemoval<Candidate extends RetentionCandidate>(
  candidates: readonly Candidate[],
  named: ReadonlySet<string>,
  { now }: { now: Date },
): RetentionDecision<Candidate>[] {
  const { newestFirst, past, reasons, keep } = beginReasons(candidates, now)
  const newestGood = past.find(({ suspect }) => !suspect)
  for (const candidate of newestFirst) {
    if (!named.has(candidate.snapshot)) keep(candidate, 'not named')
    else if (newestGood === undefined) {
      keep(candidate, 'there is no good snapshot but those from the future')
    }
    if (candidate === newestGood) keep(candidate, 'newest good snapshot')
    if (candidate.pinned) keep(candidate, 'pinned')
  }
  keepInUse(past, now, keep)
  keepShared(newestFirst, reasons, keep)
  return toDecisions(newestFirst, reasons, () => 'named')
}

/** Creates an empty list of reasons for each candidate. `past` are those not from the future. */
function beginReasons<Candidate extends RetentionCandidate>(
  candidates: readonly Candidate[],
  now: Date,
) {
  const newestFirst = candidates.toSorted((a, b) => compareValues(b.snapshot, a.snapshot))
  const reasons = new Map<Candidate, string[]>(newestFirst.map((candidate) => [candidate, []]))
  const keep = (candidate: Candidate, reason: string) => reasons.get(candidate)?.push(reason)
  const { past } = splitByTime(newestFirst, now)
  return { newestFirst, past, reasons, keep }
}

function toDecisions<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  reasons: ReadonlyMap<Candidate, string[]>,
  whyNot: (candidate: Candidate) => string,
): RetentionDecision<Candidate>[] {
  return newestFirst.map((candidate) => {
    const found = reasons.get(candidate) ?? []
    if (found.length > 0) return { candidate, keep: true, reasons: found }
    return { candidate, keep: false, reasons: [whyNot(candidate)] }
  })
}

function isEmpty(policy: RetentionPolicy): boolean {
  return Object.values(policy).every((value) => value === undefined)
}

/** Keeps the newest candidate of each of the newest periods. */
function keepByPeriod<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  { rule, number }: { rule: keyof typeof periods; number: number },
  keep: (candidate: Candidate, reason: string) => void,
): void {
  const seen = new Set<string>()
  for (const candidate of newestFirst) {
    const period = periods[rule](candidate.takenAt)
    if (seen.has(period)) continue
    if (seen.size === number) return
    seen.add(period)
    keep(candidate, `newest of ${period}`)
  }
}

/** Reasons to keep a candidate that do not depend on the number of others. */
function ownReasons(
  candidate: RetentionCandidate,
  {
    newestGood,
    policy,
    youngerThan,
    now,
  }: {
    newestGood: RetentionCandidate | undefined
    policy: RetentionPolicy
    youngerThan: number
    now: Date
  },
): string[] {
  const { snapshot, takenAt, pinned, suspect } = candidate
  const fromFuture = isFromFuture(candidate, now)
  const reasons: string[] = []
  if (candidate === newestGood) reasons.push('newest good snapshot')
  if (pinned) reasons.push('pinned')
  if (fromFuture) reasons.push('from the future')
  if (!fromFuture && takenAt.getTime() >= youngerThan) {
    reasons.push(`within ${describeSpan(policy.withinMs ?? 0)} of the newest`)
  }
  if (suspect && (newestGood === undefined || snapshot > newestGood.snapshot)) {
    reasons.push('suspect or damaged, and no good one has followed')
  }
  return reasons
}

/** Formats a time span, such as `1.5 days`, in hours or days. */
function describeSpan(ms: number): string {
  const hours = ms / 3600_000
  const round = (number: number) => Math.round(number * 100) / 100
  return hours < 24 ? `${round(hours)} hours` : `${round(hours / 24)} days`
}

/** The time from which `withinMs` keeps everything. */
function beginOfWithin(
  [newest]: readonly RetentionCandidate[],
  { withinMs }: RetentionPolicy,
): number {
  if (withinMs === undefined || newest === undefined) return Number.POSITIVE_INFINITY
  return newest.takenAt.getTime() - withinMs
}

/**
 * Keeps the newest snapshot of each type that the newest snapshot lacks. It is the last backup of a type
 * that was removed from the configuration.
 */
function keepTypes<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  keep: (candidate: Candidate, reason: string) => void,
): void {
  const seen = new Set(newestFirst[0]?.types)
  for (const candidate of newestFirst) {
    const found = candidate.types.filter((type) => !seen.has(type))
    if (found.length > 0) keep(candidate, `newest good snapshot with ${found.join(', ')}`)
    for (const type of found) seen.add(type)
  }
}

/**
 * How long a snapshot stays after a newer one. A run shares files of the newest snapshot that it finds,
 * at most for `MAX_SHARING_MS` (take.ts).
 */
const IN_USE_MS = 3600_000

function keepInUse<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  now: Date,
  keep: (candidate: Candidate, reason: string) => void,
): void {
  for (const [index, candidate] of newestFirst.entries()) {
    const successor = newestFirst[index - 1]
    if (successor === undefined) continue
    if (now.getTime() - successor.takenAt.getTime() >= IN_USE_MS) return
    keep(candidate, 'was the newest within the last hour')
  }
}

/** Keeps the snapshots whose files a kept one shares. A snapshot with own files shares none. */
function keepShared<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  reasons: ReadonlyMap<Candidate, string[]>,
  keep: (candidate: Candidate, reason: string) => void,
): void {
  const sharers = new Map<string, number>()
  for (const candidate of newestFirst) {
    if (candidate.sameAs === undefined || reasons.get(candidate)?.length === 0) continue
    sharers.set(candidate.sameAs, (sharers.get(candidate.sameAs) ?? 0) + 1)
  }
  for (const candidate of newestFirst) {
    const number = sharers.get(candidate.snapshot)
    if (number === 1) keep(candidate, '1 kept snapshot shares its files')
    else if (number !== undefined) keep(candidate, `${number} kept snapshots share its files`)
  }
}

/** The week of a time by ISO 8601, such as `2026-W47`. Its year is the year of its Thursday. */
function isoWeek(time: Date): string {
  const day = 24 * 3600_000
  const weekday = (time.getUTCDay() + 6) % 7
  const thursday = new Date(time.getTime() + (3 - weekday) * day)
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = 1 + Math.floor((thursday.getTime() - newYear) / (7 * day))
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}
