import { splitByTime } from '../../archive/future.ts'
import { durationPattern, parseDuration } from '../../config/duration.ts'
import { DashkeepError } from '../../errors.ts'
import { formatTime } from '../../wording.ts'

/** What a reference chooses from: an account's snapshots, oldest first. */
export interface Datable {
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
 * Finds the snapshot of one account that a reference means; undefined when it is the name, or the
 * beginning of a name, of none.
 *
 * - `latest` is the newest, `latest~2` two before it.
 * - `2026-11-01` is the newest at the end of that day, `2026-11-01T12:00` the newest at that
 *   moment; UTC unless a zone is given.
 * - `3 days ago` or `36h ago` is the newest at that moment; a month has 30 days.
 *
 * Snapshots from the future, as seen at `now`, are meant by their names alone.
 *
 * Throws a `usage` error for a moment before the first snapshot, too large a number after `latest~`,
 * and the beginning of several names.
 */
export function findReferenced<Item extends Datable>(
  items: readonly Item[],
  reference: string,
  now: Date,
): Item | undefined {
  const back = /^latest(?:~(\d{1,6}))?$/.exec(reference)
  const moment = back === null ? parseMoment(reference, now) : undefined
  if (back === null && moment === undefined) return findByName(items, reference)
  const { past } = splitByTime(items, now)
  if (past.length === 0) throw allFromFuture(items, reference)
  if (moment !== undefined) return newestAt(past, moment, reference)
  return stepBack(past, Number(back?.[1] ?? 0), reference)
}

function allFromFuture(items: readonly Datable[], reference: string): DashkeepError {
  return new DashkeepError(
    `Cannot find the snapshot ${reference}: every snapshot of the account is from the future`,
    {
      kind: 'usage',
      hint: `check this machine's clock, or give a name such as ${items.at(-1)?.snapshot}`,
    },
  )
}

function stepBack<Item extends Datable>(
  items: readonly Item[],
  steps: number,
  reference: string,
): Item {
  const found = items.at(-1 - steps)
  if (found !== undefined) return found
  throw new DashkeepError(
    `Cannot find the snapshot ${reference}: the account has ${items.length} in all`,
    { kind: 'usage', hint: `the first is ${items[0]?.snapshot}, latest~${items.length - 1}` },
  )
}

function newestAt<Item extends Datable>(
  items: readonly Item[],
  moment: Date,
  reference: string,
): Item {
  const found = items.findLast(({ takenAt }) => takenAt <= moment)
  if (found !== undefined) return found
  const [first] = items
  const when = first && formatTime(first.takenAt)
  throw new DashkeepError(
    `Cannot find a snapshot for ${reference}: the first was taken later, at ${when} UTC`,
    { kind: 'usage', hint: `the first is ${first?.snapshot}` },
  )
}

function findByName<Item extends Datable>(
  items: readonly Item[],
  reference: string,
): Item | undefined {
  // Shorter beginnings say less than a year, and may be meant as anything.
  if (!/^\d{4}/.test(reference)) return undefined
  const found = items.filter(({ snapshot }) => snapshot.startsWith(reference))
  if (found.length <= 1) return found[0]
  const names = found.slice(-5).map(({ snapshot }) => snapshot)
  throw new DashkeepError(
    `Cannot choose the snapshot ${reference}: ${found.length} names begin like that`,
    { kind: 'usage', hint: `the newest of them are ${names.join(', ')}` },
  )
}

/** The moment that a date or a time ago means; undefined for what is neither. */
function parseMoment(text: string, now: Date): Date | undefined {
  const ago = /^(.+?)\s+ago$/i.exec(text.trim())?.[1]
  if (ago !== undefined) return new Date(now.getTime() - parseAgo(ago, text))
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10))
  const time = new Date(day || zoned ? text.replace(' ', 'T') : `${text.replace(' ', 'T')}Z`)
  const isReal = !Number.isNaN(time.getTime()) && (!day || time.toISOString().startsWith(text))
  if (!isReal) throw badReference(text, 'it is no date there is')
  // A day means all of it: its last snapshot counts.
  return day ? new Date(time.getTime() + DAY_MS - 1) : time
}

function parseAgo(amount: string, text: string): number {
  if (durationPattern.test(amount)) return parseDuration(amount)
  const [, number, unit = ''] = /^(\d{1,6}|an?)\s*([a-z]+?)s?$/i.exec(amount) ?? []
  const length = unitsMs[unit.toLowerCase()]
  if (number === undefined || length === undefined) {
    throw badReference(text, 'it is not like 3 days ago, or 36h ago')
  }
  return length * (/^\d/.test(number) ? Number(number) : 1)
}

function badReference(text: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot find the snapshot ${text}: ${state}`, {
    kind: 'usage',
    hint: `say ${referenceForms}`,
  })
}

/** Names near a reference that is no name, for hints. */
export function nearestNames(items: readonly Datable[], reference: string): string[] {
  const names = items.map(({ snapshot }) => snapshot)
  const alike = names.filter((name) => name.startsWith(reference.slice(0, 8)))
  if (alike.length > 0 || !/^\d{8}T\d{6}/.test(reference)) return alike.slice(-3)
  const later = names.findIndex((name) => name > reference)
  const place = later < 0 ? names.length : later
  return names.slice(Math.max(place - 2, 0), place + 1)
}
