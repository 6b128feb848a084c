import type { SnapshotFolder } from '../archive/archive.ts'
import { countFileBytes, countObjects, holderOf } from '../archive/manifest.ts'
import { toCandidate } from '../archive/prune.ts'
import { planRetention, type RetentionPolicy } from '../archive/retention.ts'
import { snapshotTime } from '../archive/snapshot-name.ts'
import { countDueRuns, type DueRuns } from './due-runs.ts'
import type { ReadSnapshot } from './read-snapshot.ts'
import { type GuardRules, listSuspects, type SuspectSnapshot } from './suspects.ts'

/** The span of a report, and the rules of the configuration by which it judges. */
export interface ReportTerms {
  readonly since: Date
  /** The end of the span: the present time. */
  readonly now: Date
  /** Undefined when no schedule is configured. */
  readonly schedule: { readonly due: readonly Date[]; readonly graceMs: number } | undefined
  /** Undefined when no rule is configured. */
  readonly retention: RetentionPolicy | undefined
  readonly guard: GuardRules
}

/** A snapshot with its size. */
interface SizedSnapshot {
  readonly snapshot: string
  readonly takenAt: Date
  readonly objects: number
  /** Size of its files as stored, also of shared ones. */
  readonly bytes: number
}

/** Snapshots that are damaged because of the same files. */
interface Damage {
  /** The snapshot whose folder holds the files. */
  readonly holder: string
  readonly problem: string
  readonly snapshots: readonly string[]
}

/** What the archive shows of the backups of one account. All lists are sorted by time. */
export interface ArchivedReport {
  /** Undefined without a schedule, and for an account that is not configured. */
  readonly runs: DueRuns | undefined
  /** Numbers of snapshots since the begin of the span. */
  readonly taken: {
    readonly good: number
    readonly suspect: number
    readonly damaged: number
    /** Snapshots that later ones name as previous, and that were removed. There may be more. */
    readonly removed: number
  }
  readonly first: Pick<SizedSnapshot, 'snapshot' | 'takenAt'> | undefined
  readonly newest: Pick<SizedSnapshot, 'snapshot' | 'takenAt'> | undefined
  /** The newest good snapshot at the begin of the span, or the first good one after it. */
  readonly begin: SizedSnapshot | undefined
  /** The newest good snapshot. */
  readonly end: SizedSnapshot | undefined
  /** The longest known time without a good snapshot that ends in the span. */
  readonly longestGap: { readonly from: Date; readonly to: Date } | undefined
  readonly suspects: readonly SuspectSnapshot[]
  /** All damaged snapshots of the account, also older ones. */
  readonly damaged: readonly Damage[]
  readonly fromFuture: readonly string[]
  /** Runs of the span that stopped before their snapshot was complete. */
  readonly unfinished: readonly string[]
  /** What the rules of retention keep and remove now; undefined when there is no rule. */
  readonly retention: { readonly kept: number; readonly removable: number } | undefined
  readonly pinned: number
}

/** The snapshots of one account, as they were read. */
interface AccountArchive {
  /** Those that are not from the future, oldest first. */
  readonly snapshots: readonly ReadSnapshot[]
  readonly fromFuture: readonly SnapshotFolder[]
  /** Folders without a manifest. */
  readonly unfinished: readonly SnapshotFolder[]
  readonly pins: ReadonlySet<string>
}

/** Makes the report of one account from its snapshots. Pure. */
export function reportAccount(
  { snapshots, fromFuture, unfinished, pins }: AccountArchive,
  terms: ReportTerms,
  { isConfigured }: { isConfigured: boolean },
): ArchivedReport {
  const { since, now, schedule, guard } = terms
  const good = snapshots.filter(({ state }) => state === 'good')
  const end = good.at(-1)
  const begin = good.findLast(({ takenAt }) => takenAt <= since) ?? good[0]
  const isJudged = schedule !== undefined && isConfigured
  return {
    runs: isJudged ? countDueRuns(snapshots, schedule.due, { ...schedule, now }) : undefined,
    taken: countTaken(snapshots, since),
    first: nameOf(snapshots[0]),
    newest: nameOf(snapshots.at(-1)),
    begin: begin && sizeUp(begin),
    end: end && sizeUp(end),
    longestGap: findLongestGap(snapshots, { since, until: isConfigured ? now : undefined }),
    suspects: listSuspects(snapshots, { since, guard }),
    damaged: groupDamage(snapshots),
    fromFuture: fromFuture.map(({ snapshot }) => snapshot),
    unfinished: unfinished
      .filter(({ takenAt }) => takenAt >= since && takenAt <= now)
      .map(({ snapshot }) => snapshot),
    retention: judgeRetention(snapshots, pins, terms),
    pinned: snapshots.filter(({ snapshot }) => pins.has(snapshot)).length,
  }
}

function countTaken(snapshots: readonly ReadSnapshot[], since: Date): ArchivedReport['taken'] {
  const counts = { good: 0, suspect: 0, damaged: 0 }
  for (const { state, takenAt } of snapshots) if (takenAt >= since) counts[state] += 1
  const removed = [...listRemoved(snapshots)].filter((name) => {
    const takenAt = snapshotTime(name)
    return takenAt !== undefined && takenAt >= since
  })
  return { ...counts, removed: removed.length }
}

/** Names of the snapshots that others name as previous, and that the archive no longer has. */
function listRemoved(snapshots: readonly ReadSnapshot[]): Set<string> {
  const present = new Set(snapshots.map(({ snapshot }) => snapshot))
  const previous = snapshots.flatMap(({ manifest }) => manifest?.previous?.snapshot ?? [])
  return new Set(previous).difference(present)
}

function nameOf(one: ReadSnapshot | undefined): ArchivedReport['first'] {
  return one && { snapshot: one.snapshot, takenAt: one.takenAt }
}

function sizeUp({ snapshot, takenAt, manifest }: ReadSnapshot): SizedSnapshot {
  const exports = manifest?.exports ?? []
  const [objects, bytes] = [countObjects({ exports }), countFileBytes({ exports })]
  return { snapshot, takenAt, objects, bytes }
}

/**
 * The longest time without a good snapshot, also the one that lasts at `until`. A time in which snapshots may have been removed does not
 * count: one of them may have been good.
 */
function findLongestGap(
  snapshots: readonly ReadSnapshot[],
  { since, until }: { since: Date; until: Date | undefined },
): ArchivedReport['longestGap'] {
  const removed = listRemoved(snapshots)
  let longest: { from: Date; to: Date } | undefined
  let last: Date | undefined
  const end = (to: Date) => {
    if (last === undefined || to < since) return
    const isLonger = longest && to.getTime() - last.getTime() > lengthOf(longest)
    if (isLonger ?? true) longest = { from: last, to }
  }
  for (const { state, takenAt, manifest } of snapshots) {
    const isFirstKnown = manifest === undefined || removed.has(manifest.previous?.snapshot ?? '')
    if (isFirstKnown) last = undefined
    if (state !== 'good') continue
    end(takenAt)
    last = takenAt
  }
  if (until !== undefined) end(until)
  return longest
}

function lengthOf({ from, to }: { from: Date; to: Date }): number {
  return to.getTime() - from.getTime()
}

function groupDamage(snapshots: readonly ReadSnapshot[]): Damage[] {
  const byHolder = new Map<string, { holder: string; problem: string; snapshots: string[] }>()
  for (const { snapshot, manifest, problem } of snapshots) {
    if (problem === undefined) continue
    const holder = manifest === undefined ? snapshot : holderOf(manifest)
    const key = manifest === undefined ? `${snapshot}/manifest` : holder
    const group = byHolder.get(key) ?? { holder, problem, snapshots: [] }
    group.snapshots.push(snapshot)
    byHolder.set(key, group)
  }
  return [...byHolder.values()]
}

function judgeRetention(
  snapshots: readonly ReadSnapshot[],
  pins: ReadonlySet<string>,
  { retention, now }: ReportTerms,
): ArchivedReport['retention'] {
  if (retention === undefined) return undefined
  const candidates = snapshots.flatMap(({ manifest, folder, state }) =>
    manifest === undefined
      ? []
      : toCandidate(manifest, folder, { suspect: state !== 'good', pins }),
  )
  const decisions = planRetention(candidates, retention, { now })
  const kept = decisions.filter(({ keep }) => keep).length
  return { kept, removable: decisions.length - kept }
}
