import { splitByTime } from '../../archive/future.ts'
import { durationPattern, parseDuration } from '../../config/duration.ts'
import { DashkeepError } from '../../errors.ts'
import { formatTime, plural } from '../../wording.ts'
import { isDateOnly, readDate } from './read-date.ts'

/** A snapshot with its time. */
interface DatedSnapshot {
  readonly snapshot: string
  readonly takenAt: Date
}

const DAY_MS = 24 * 3600_000
const unitsMs: Record<string, number> = {
  minute: 60_000,
  hour: 3600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  year: 365 * DAY_MS,
}

/** The forms that a reference can have, for help and hints. */
export const referenceForms =
  "a name or the beginning of a name, latest, latest~1, a date such as 2026-11-01, or '3 days ago'"

/**
 * Finds the snapshot that a reference means, among the snapshots of one account (`items`, oldest
 * first). Returns undefined when no name begins with the reference.
 *
 * - `latest` is the newest snapshot, `latest~2` two before it.
 * - `2026-11-01` is the newest snapshot at the end of that day, `2026-11-01T12:00` the newest at that
 *   time. The time zone is UTC unless the reference has one.
 * - `3 days ago` or `36h ago` is the newest snapshot at that time; a month has 30 days.
 *
 * Only a name selects a snapshot that is from the future at `now`.
 *
 * Throws a `usage` error for a time before the first snapshot, for a number after `latest~` that is
 * too large, and for the beginning of several names.
 */
export function findReferenced<Item extends DatedSnapshot>(
  items: readonly Item[],
  reference: string,
  now: Date,
): Item | undefined {
  const back = /^latest(?:~(\d{1,6}))?$/.exec(reference)
  const time = back === null ? parseTime(reference, now) : undefined
  if (back === null && time === undefined) return findByName(items, reference)
  const { past } = splitByTime(items, now)
  if (past.length === 0) throw allFromFuture(items, reference)
  if (time !== undefined) return newestAt(past, time, reference)
  return stepBack(past, Number(back?.[1] ?? 0), reference)
}

function allFromFuture(items: readonly DatedSnapshot[], reference: string): DashkeepError {
  return new DashkeepError(
    `Cannot find the snapshot ${reference}: every snapshot of the account is from the future`,
    {
      kind: 'usage',
      hint: `check this machine's clock, or use a name such as ${items.at(-1)?.snapshot}`,
    },
  )
}

function stepBack<Item extends DatedSnapshot>(
  items: readonly Item[],
  steps: number,
  reference: string,
): Item {
  const found = items.at(-1 - steps)
  if (found !== undefined) return found
  throw new DashkeepError(
    `Cannot find the snapshot ${reference}: the account has only ${plural(items.length, 'snapshot')}`,
    { kind: 'usage', hint: `the oldest is latest~${items.length - 1}, ${items[0]?.snapshot}` },
  )
}

function newestAt<Item extends DatedSnapshot>(
  items: readonly Item[],
  time: Date,
  reference: string,
): Item {
  const found = items.findLast(({ takenAt }) => takenAt <= time)
  if (found !== undefined) return found
  const [first] = items
  const takenAt = first && formatTime(first.takenAt)
  throw new DashkeepError(
    `Cannot find the snapshot ${reference}: the oldest snapshot is newer, taken at ${takenAt} UTC`,
    { kind: 'usage', hint: `the oldest is ${first?.snapshot}` },
  )
}

function findByName<Item extends DatedSnapshot>(
  items: readonly Item[],
  reference: string,
): Item | undefined {
  // Shorter than a year, the beginning of a name is too ambiguous.
  if (!/^\d{4}/.test(reference)) return undefined
  const found = items.filter(({ snapshot }) => snapshot.startsWith(reference))
  if (found.length <= 1) return found[0]
  const names = found.slice(-5).map(({ snapshot }) => snapshot)
  throw new DashkeepError(
    `Cannot choose the snapshot ${reference}: ${found.length} names begin with it`,
    { kind: 'usage', hint: `type more characters; the newest of them are ${names.join(', ')}` },
  )
}

/** The time that a date or `… ago` means; undefined for any other text. */
function parseTime(text: string, now: Date): Date | undefined {
  const ago = /^(.+?)\s+ago$/i.exec(text.trim())?.[1]
  if (ago !== undefined) return new Date(now.getTime() - parseAgo(ago, text))
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined
  const time = readDate(text)
  if (time === undefined) throw badReference(text, 'this date does not exist')
  // A day includes its last snapshot.
  return isDateOnly(text) ? new Date(time.getTime() + DAY_MS - 1) : time
}

function parseAgo(amount: string, text: string): number {
  if (durationPattern.test(amount)) return parseDuration(amount)
  const [, number, unit = ''] = /^(\d{1,6}|an?)\s*([a-z]+?)s?$/i.exec(amount) ?? []
  const length = unitsMs[unit.toLowerCase()]
  if (number === undefined || length === undefined) {
    throw badReference(text, 'it is not a time such as 3 days ago or 36h ago')
  }
  return length * (/^\d/.test(number) ? Number(number) : 1)
}

function badReference(text: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot find the snapshot ${text}: ${state}`, {
    kind: 'usage',
    hint: `use ${referenceForms}`,
  })
}

/** Names close to an unknown reference, for hints. */
export function nearestNames(items: readonly DatedSnapshot[], reference: string): string[] {
  const names = items.map(({ snapshot }) => snapshot)
  const sameDay = names.filter((name) => name.startsWith(reference.slice(0, 8)))
  if (sameDay.length > 0 || !/^\d{8}T\d{6}/.test(reference)) return sameDay.slice(-3)
  const later = names.findIndex((name) => name > reference)
  const index = later < 0 ? names.length : later
  return names.slice(Math.max(index - 2, 0), index + 1)
}
