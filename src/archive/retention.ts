import { isFromFuture, splitByTime } from './future.ts'

/**
 * How many snapshots to keep. Each rule keeps the newest snapshot of each of the newest periods
 * that have one, up to its number; a snapshot is kept when any rule keeps it. Periods are those of
 * UTC, weeks begin on Monday (ISO 8601).
 */
export interface RetentionPolicy {
  readonly last?: number | undefined
  readonly hourly?: number | undefined
  readonly daily?: number | undefined
  readonly weekly?: number | undefined
  readonly monthly?: number | undefined
  readonly yearly?: number | undefined
  /**
   * Keeps everything at most this many milliseconds older than the newest snapshot: measured from
   * there and not from the clock, which may have been set forward.
   */
  readonly withinMs?: number | undefined
}

/** What retention needs to know of a snapshot. */
export interface RetentionCandidate {
  readonly snapshot: string
  readonly takenAt: Date
  /** Whether it is suspect, or its files are missing, cut short, or found damaged by `verify`. */
  readonly suspect: boolean
  /** The snapshot whose files it shares. */
  readonly sameAs: string | undefined
  readonly pinned: boolean
  /** The types that it holds. */
  readonly types: readonly string[]
}

/** What is to happen to one snapshot, and every reason for it. */
export interface RetentionDecision<Candidate extends RetentionCandidate = RetentionCandidate> {
  readonly candidate: Candidate
  readonly keep: boolean
  /** Why it is kept, or why it is not. */
  readonly reasons: readonly string[]
}

/** A rule by period: the period a moment falls into, as text. */
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
 * Decides what to keep of one account's snapshots and says why, newest first. Pure: reads no clock
 * and touches no store.
 *
 * A suspect snapshot takes no place in a rule, nor does one from the future as seen at `now`, so
 * that a bad backup never pushes out a good one; it stays as long as no good one has followed it.
 * Always kept, whatever the policy: the newest good snapshot, the newest good one with each type
 * that it lacks, pinned ones, those from the future, one that was the newest less than an hour ago
 * (a run that goes on may still refer to it), and every snapshot whose files a kept one shares. A
 * policy without rules keeps everything.
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
  keepShared(newestFirst, reasons)
  return toDecisions(newestFirst, reasons, ({ suspect }) =>
    suspect ? 'suspect or damaged, and a good one has followed' : 'no rule keeps it',
  )
}

/**
 * Decides which of the snapshots that somebody has named may go, newest first; the others stay. Pure.
 *
 * A named one stays all the same when it is the newest good snapshot, pinned, or was the newest less
 * than an hour ago, when a snapshot that stays shares its files, and as long as there is no good
 * snapshot but those from the future.
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
  keepShared(newestFirst, reasons)
  return toDecisions(newestFirst, reasons, () => 'named')
}

/** Begins without a reason for any candidate; `past` leaves out those from the future. */
function beginReasons<Candidate extends RetentionCandidate>(
  candidates: readonly Candidate[],
  now: Date,
) {
  const newestFirst = candidates.toSorted((a, b) => (a.snapshot < b.snapshot ? 1 : -1))
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

/** Keeps the newest of each period, from the newest period on. */
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

/** Reasons that lie in the snapshot itself and not in a rule that counts. */
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

/** `1.5 days`: roughly, in the largest unit that fits. */
function describeSpan(ms: number): string {
  const [length, unit] = ms < 24 * 3600_000 ? [3600_000, 'hours'] : [24 * 3600_000, 'days']
  return `${Math.round((ms / length) * 100) / 100} ${unit}`
}

/** The moment from which on everything is kept by `withinMs`. */
function beginOfWithin(
  [newest]: readonly RetentionCandidate[],
  { withinMs }: RetentionPolicy,
): number {
  if (withinMs === undefined || newest === undefined) return Number.POSITIVE_INFINITY
  return newest.takenAt.getTime() - withinMs
}

/**
 * Keeps the newest snapshot with each type that the newest of all lacks: a type that was taken out
 * of the configuration has its last backup there.
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

/** A run refers to the newest snapshot it found; `maxSharingMs` in `take.ts` is the other half. */
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

/** Keeps what kept snapshots share. A snapshot that holds files shares none itself. */
function keepShared<Candidate extends RetentionCandidate>(
  newestFirst: readonly Candidate[],
  reasons: Map<Candidate, string[]>,
): void {
  const sharers = new Map<string, number>()
  for (const candidate of newestFirst) {
    if (candidate.sameAs === undefined || reasons.get(candidate)?.length === 0) continue
    sharers.set(candidate.sameAs, (sharers.get(candidate.sameAs) ?? 0) + 1)
  }
  for (const candidate of newestFirst) {
    const number = sharers.get(candidate.snapshot)
    if (number !== undefined)
      reasons
        .get(candidate)
        ?.push(
          number === 1
            ? '1 kept snapshot shares its files'
            : `${number} kept snapshots share its files`,
        )
  }
}

/** `2026-W47`: the week by ISO 8601, whose year is that of its Thursday. */
function isoWeek(time: Date): string {
  const day = 24 * 3600_000
  const weekday = (time.getUTCDay() + 6) % 7
  const thursday = new Date(time.getTime() + (3 - weekday) * day)
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = 1 + Math.floor((thursday.getTime() - newYear) / (7 * day))
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}
