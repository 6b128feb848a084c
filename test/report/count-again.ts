import type { Remembered, SimulatedAccount } from './simulated-account.ts'
import { gone, type SimulatedYear } from './simulated-year.ts'

const hourMs = 3600_000
const dayMs = 24 * hourMs

/** A run may take six hours. */
const longestRunMs = 6 * hourMs

/** What the report must say of an account, counted from what the simulation remembers. */
export function countAgain(account: SimulatedAccount, year: SimulatedYear) {
  const { since, now } = year
  const { snapshots } = account
  const left = account.left()
  const good = left.filter(isGood)
  const recent = left.filter(({ takenAt }) => takenAt >= since)
  const start = good.filter(({ takenAt }) => takenAt <= since).at(-1) ?? good[0]
  return {
    accountId: account.accountId,
    name: `Account ${account.accountId}`,
    configuredAs: `team-${account.accountId}`,
    isConfigured: account.accountId !== gone,
    runs: account.accountId === gone ? undefined : countRuns(snapshots, year),
    taken: {
      good: recent.filter(isGood).length,
      suspect: recent.filter((one) => one.isSuspect && !one.isDamaged).length,
      damaged: recent.filter(({ isDamaged }) => isDamaged).length,
      removed: snapshots.filter((one, place) => {
        const next = snapshots[place + 1]
        return one.isRemoved && one.takenAt >= since && next && isReadable(next)
      }).length,
    },
    first: named(left[0]),
    newest: named(left.at(-1)),
    begin: sized(start),
    end: sized(good.at(-1)),
    longestGapMs: findLongestGap(account, year),
    suspects: left
      .filter((one) => one.isSuspect && !one.isUnreadable)
      .map((one) => followUp(one, good))
      .filter(({ takenAt, followedBy }) => takenAt >= since || followedBy === undefined),
    damaged: left
      .filter(({ isDamaged }) => isDamaged)
      .map(({ name }) => name)
      .sort(),
    fromFuture: account.fromFuture.map(({ name }) => name),
    unfinished: account.interrupted().filter((name) => name >= prefixOf(since)),
    pinned: left.filter(({ isPinned }) => isPinned).length,
    checks: countChecks(account, year),
    locks: countLocks(account, year),
    snapshots: left.length + account.fromFuture.length,
    now,
  }
}

/** One due time after the other, with everything that was ever taken until the next. */
function countRuns(snapshots: readonly Remembered[], { due, since, now }: SimulatedYear) {
  const counts = { made: 0, damaged: 0, suspect: 0, missed: 0, unknown: 0 }
  const times = { damaged: [], suspect: [], missed: [], unknown: [] } as Record<string, Date[]>
  const others = { extra: 0, beforeFirst: 0, pending: false }
  for (const [place, time] of due.entries()) {
    if (time < since) continue
    const end = due[place + 1]
    const taken = snapshots.filter(
      ({ takenAt }) => takenAt >= time && (end === undefined || takenAt < end),
    )
    const left = taken.filter(({ isRemoved }) => !isRemoved)
    const made = left.filter(isGood).length
    const next = snapshots.find(({ takenAt }) => takenAt >= time)
    const isFirst = next === snapshots[0]
    const isShown = next !== undefined && isReadable(next)
    let state: keyof typeof counts | 'before' | 'pending'
    if (made > 0) state = 'made'
    else if (left.some(({ isDamaged }) => isDamaged)) state = 'damaged'
    else if (left.length > 0) state = 'suspect'
    else if (taken.length > 0) state = 'unknown'
    else if (next === undefined && now.getTime() - time.getTime() <= longestRunMs) state = 'pending'
    else if (next === undefined) state = 'missed'
    else if (isFirst) state = isShown ? 'before' : 'unknown'
    else state = isShown ? 'missed' : 'unknown'
    if (state === 'before') others.beforeFirst += 1
    else if (state === 'pending') others.pending = true
    else {
      counts[state] += 1
      others.extra += Math.max(made - 1, 0)
      times[state]?.push(time)
    }
  }
  const sum = Object.values(counts).reduce((total, number) => total + number, 0)
  return { ...counts, ...others, due: sum, times }
}

/** The longest time between two good snapshots of which nothing in between is lost. */
function findLongestGap({ accountId, snapshots }: SimulatedAccount, { since, now }: SimulatedYear) {
  const gaps = snapshots.flatMap((from, place) => {
    if (from.isRemoved || !isGood(from)) return []
    const after = snapshots.slice(place + 1)
    const index = after.findIndex((one) => !one.isRemoved && isGood(one))
    // Nobody expects a snapshot of an account that has left.
    if (index < 0 && accountId === gone) return []
    const between = index < 0 ? after : after.slice(0, index)
    const to = after[index]?.takenAt ?? now
    return between.every(isReadable) && to >= since ? [to.getTime() - from.takenAt.getTime()] : []
  })
  return gaps.length > 0 ? Math.max(...gaps) : undefined
}

function followUp(suspect: Remembered, good: readonly Remembered[]) {
  const { takenAt, objects, fellFrom } = suspect
  const next = good.find((one) => one.takenAt > takenAt)
  if (next === undefined) return { takenAt, objects, followedBy: undefined }
  const isStillLow =
    fellFrom !== undefined &&
    (next.objects - 3) * 2 < fellFrom.objects &&
    next.takenAt.getTime() - fellFrom.takenAt.getTime() < 7 * dayMs
  const accepted = next.content === suspect.content || isStillLow
  return { takenAt, objects, followedBy: { snapshot: next.name, objects: next.objects, accepted } }
}

function countChecks({ checks }: SimulatedAccount, { since }: SimulatedYear) {
  const ofKind = (kind: string) => {
    const own = checks.filter((check) => check.kind === kind)
    const recent = own.filter(({ startedAt }) => startedAt >= since)
    const newest = own.filter(({ isGood, isWhole }) => isGood && isWhole).at(-1)?.startedAt
    const open = own.filter((one) => !one.isGood && !(newest && newest > one.startedAt))
    const good = recent.filter((one) => one.isGood).length
    return { good, failed: recent.length - good, newest, open: open.length }
  }
  return { verify: ofKind('verify'), drill: ofKind('drill') }
}

/**
 * When the lock of a snapshot's own manifest ends, in seconds. Each snapshot that shares its files
 * extends it. The files are locked at least as long.
 */
function countLocks(account: SimulatedAccount, { lockMs, now }: SimulatedYear) {
  const readable = account.left().filter(({ isUnreadable }) => !isUnreadable)
  const all = [...account.snapshots, ...account.fromFuture]
  const end = (one: Remembered | undefined) => {
    if (one === undefined || lockMs === undefined) return undefined
    const users = all.filter(({ name, holder }) => name === one.name || holder === one.name)
    const last = Math.max(...users.map(({ takenAt }) => Math.floor(takenAt.getTime() / 1000)))
    const until = last + lockMs / 1000
    return until * 1000 > now.getTime() ? until : undefined
  }
  return { oldest: end(readable[0]), newest: end(readable.at(-1)) }
}

function isGood({ isSuspect, isDamaged }: Remembered): boolean {
  return !isSuspect && !isDamaged
}

function isReadable({ isRemoved, isUnreadable }: Remembered): boolean {
  return !isRemoved && !isUnreadable
}

function named(one: Remembered | undefined) {
  return one && { snapshot: one.name, takenAt: one.takenAt }
}

function sized(one: Remembered | undefined) {
  return one && { ...named(one), objects: one.objects, bytes: one.bytes }
}

/** The beginning of the names of snapshots of a time. */
function prefixOf(time: Date): string {
  return time.toISOString().replaceAll(/[-:]/g, '').slice(0, 15)
}
