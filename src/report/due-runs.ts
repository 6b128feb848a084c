import { snapshotTime } from '../archive/snapshot-name.ts'
import type { Calendar } from '../config/calendar.ts'
import { DashkeepError } from '../errors.ts'
import type { ReadSnapshot } from './read-snapshot.ts'

/**
 * What the archive shows of a due run. The time of a run ends when the next run is due.
 *
 * - `made`: the archive has a good snapshot of this time
 * - `damaged`, `suspect`: it only has damaged ones, or only suspect ones
 * - `missed`: no snapshot was taken. The next snapshot proves it: its manifest names an older one as
 *   its previous snapshot
 * - `unknown`: nothing is left of this time, and snapshots were removed since
 */
type RunState = 'made' | 'damaged' | 'suspect' | 'missed' | 'unknown'

/** Successive due runs with the same state. */
export interface RunSpan {
  /** When the first of them was due. */
  readonly from: Date
  /** When the last of them was due. */
  readonly to: Date
  readonly runs: number
}

/** The due runs of one account. `due` is the sum of all states. */
export interface DueRuns extends Readonly<Record<RunState, number>> {
  readonly due: number
  /** Good snapshots beyond the first one of each due run. */
  readonly extra: number
  /** Runs that were due before the first snapshot of the account. They do not count as due. */
  readonly beforeFirst: number
  /** Whether the last run may still make its snapshot. Runs since it was due do not count as due. */
  readonly pending: boolean
  /** The runs that were not made, by state, oldest first. */
  readonly spans: Readonly<Record<Exclude<RunState, 'made'>, readonly RunSpan[]>>
}

/** Most due runs of a report. A run for each hour of five years is less. */
const MAX_DUE = 50_000

/** The last date that JavaScript knows. */
const endOfTime = new Date(8.64e15)

/** Lists when runs were due, oldest first. Throws a `usage` error when there are too many. */
export function listDue(calendar: Calendar, { since, now }: { since: Date; now: Date }): Date[] {
  const due: Date[] = []
  let next = calendar.next(new Date(since.getTime() - 1))
  while (next !== undefined && next <= now) {
    due.push(next)
    if (due.length > MAX_DUE) {
      throw new DashkeepError(
        `Cannot report since ${since.toISOString()}: more than ${MAX_DUE} runs were due`,
        { kind: 'usage', hint: 'give a later date with --since' },
      )
    }
    next = calendar.next(next)
  }
  return due
}

/**
 * Finds what became of each due run of an account. Expects the snapshots and the due times oldest
 * first, and none of them from the future. A run that is due less than `graceMs` ago may still be in
 * progress. Pure.
 */
export function countDueRuns(
  snapshots: readonly ReadSnapshot[],
  due: readonly Date[],
  { now, graceMs }: { now: Date; graceMs: number },
): DueRuns {
  const counts = { made: 0, damaged: 0, suspect: 0, missed: 0, unknown: 0, 'before-first': 0 }
  const spans = { damaged: [], suspect: [], missed: [], unknown: [] }
  const collect = createCollector(spans)
  const findState = createFinder(snapshots)
  const newest = snapshots.at(-1)
  let good = 0
  let pending = false
  for (const [index, from] of due.entries()) {
    const found = findState(from, due[index + 1] ?? endOfTime)
    const isLast = newest === undefined || newest.takenAt < from
    if (isLast && found.state === 'missed' && now.getTime() - from.getTime() <= graceMs) {
      pending = true
      break
    }
    counts[found.state] += 1
    good += found.good
    collect(found.state, from)
  }
  const { 'before-first': beforeFirst, ...states } = counts
  const sum = Object.values(states).reduce((total, number) => total + number, 0)
  return { due: sum, ...states, extra: good - counts.made, beforeFirst, pending, spans }
}

interface FoundState {
  readonly state: RunState | 'before-first'
  /** Number of good snapshots. */
  readonly good: number
}

/** Creates a function that judges successive times, oldest first, each until before the next. */
function createFinder(snapshots: readonly ReadSnapshot[]) {
  let index = 0
  return (from: Date, until: Date): FoundState => {
    while (isBefore(snapshots[index], from)) index += 1
    const begin = index
    while (isBefore(snapshots[index], until)) index += 1
    const taken = snapshots.slice(begin, index)
    const good = taken.filter(({ state }) => state === 'good').length
    if (good > 0) return { state: 'made', good }
    if (taken.length > 0) {
      const isDamaged = taken.some(({ state }) => state === 'damaged')
      return { state: isDamaged ? 'damaged' : 'suspect', good }
    }
    return { state: judgeEmpty(snapshots, index, from), good }
  }
}

/**
 * Judges a time without a snapshot. `index` is that of the first snapshot after it. The newest snapshot
 * is never removed, so nothing was taken after it.
 */
function judgeEmpty(
  snapshots: readonly ReadSnapshot[],
  index: number,
  from: Date,
): FoundState['state'] {
  if (snapshots.length === 0) return 'before-first'
  if (index === snapshots.length) return 'missed'
  let place = index
  while (place < snapshots.length && snapshots[place]?.manifest === undefined) place += 1
  const next = snapshots[place]?.manifest
  if (next === undefined) return 'unknown'
  if (next.previous === undefined) return place === 0 ? 'before-first' : 'unknown'
  const previous = snapshotTime(next.previous.snapshot)
  return previous !== undefined && previous < from ? 'missed' : 'unknown'
}

function isBefore(snapshot: ReadSnapshot | undefined, time: Date): boolean {
  return snapshot !== undefined && snapshot.takenAt < time
}

/** Creates a function that collects successive runs with the same state. */
function createCollector(spans: Record<Exclude<RunState, 'made'>, RunSpan[]>) {
  let last: FoundState['state'] | undefined
  return (state: FoundState['state'], due: Date): void => {
    if (state !== 'made' && state !== 'before-first') {
      const span = state === last ? spans[state].pop() : undefined
      spans[state].push({ from: span?.from ?? due, to: due, runs: (span?.runs ?? 0) + 1 })
    }
    last = state
  }
}
