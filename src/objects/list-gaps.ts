import { diffArrays } from 'diff'

/** A stretch in which two lists differ: items of the first, and what the second has in their place. */
interface Gap {
  /** Where it begins in the first list, and how many items of it are not in the second. */
  readonly from: number
  readonly removed: number
  /** Where it begins in the second list, and how many items of it are not in the first. */
  readonly to: number
  readonly added: number
}

/** Items removed and added that the search allows: it takes memory for half of the square. */
const MAX_EDITS = 1000
/** Comparisons of the search: items times edits. A longer one would take seconds. */
const MAX_STEPS = 40_000_000

/**
 * Finds where two lists differ, with the fewest items removed and added, in order. Between two gaps
 * both have the same items. Lists that differ in too much for the search have one gap, from the first
 * difference to the last.
 */
export function findGaps<Item>(
  before: readonly Item[],
  after: readonly Item[],
  isSame: (one: Item, other: Item) => boolean,
): Gap[] {
  const shorter = Math.min(before.length, after.length)
  const same = (x: number, y: number) => isSame(before[x] as Item, after[y] as Item)
  let start = 0
  while (start < shorter && same(start, start)) start += 1
  let end = 0
  while (end < shorter - start && same(before.length - 1 - end, after.length - 1 - end)) end += 1
  const older = before.slice(start, before.length - end)
  const newer = after.slice(start, after.length - end)
  if (older.length === 0 && newer.length === 0) return []
  const whole = { from: start, removed: older.length, to: start, added: newer.length }
  if (older.length === 0 || newer.length === 0) return [whole]
  const maxEditLength = limitOf(older.length + newer.length)
  const parts = diffArrays(older, newer, { comparator: isSame, maxEditLength })
  return parts === undefined ? [whole] : gapsOf(parts, start)
}

/** Most edits that the comparison of `size` items or characters may try. */
export function limitOf(size: number): number {
  return Math.max(1, Math.min(MAX_EDITS, Math.floor(MAX_STEPS / size)))
}

interface Part {
  readonly count: number
  readonly added: boolean
  readonly removed: boolean
}

function gapsOf(parts: readonly Part[], start: number): Gap[] {
  const gaps: Gap[] = []
  let [from, to] = [start, start]
  let current: Gap | undefined
  for (const { count, added, removed } of parts) {
    if (!added && !removed) {
      if (current !== undefined) gaps.push(current)
      current = undefined
    } else {
      const gap: Gap = current ?? { from, removed: 0, to, added: 0 }
      current = removed
        ? { ...gap, removed: gap.removed + count }
        : { ...gap, added: gap.added + count }
    }
    if (!added) from += count
    if (!removed) to += count
  }
  return current === undefined ? gaps : [...gaps, current]
}
