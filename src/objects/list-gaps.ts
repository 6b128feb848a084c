/** A stretch in which two lists differ: items of the first, and what the second has in their place. */
export interface Gap {
  /** Where it begins in the first list, and how many items of it are not in the second. */
  readonly from: number
  readonly removed: number
  /** Where it begins in the second list, and how many items of it are not in the first. */
  readonly to: number
  readonly added: number
}

/** Steps of the search. A longer one would take seconds; it begins with as many as the lists have items. */
const MAX_STEPS = 2_000_000

/**
 * Finds where two lists differ, with the fewest items removed and added (Myers' algorithm), in order.
 * Between two gaps both have the same items. Lists that differ in too much for the search have one
 * gap, from the first difference to the last.
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
  const size = { before: before.length - start - end, after: after.length - start - end }
  if (size.before === 0 && size.after === 0) return []
  const whole = { from: 0, removed: size.before, to: 0, added: size.after }
  const trivial = size.before === 0 || size.after === 0
  const search = trivial ? undefined : searchPath(size, (x, y) => same(start + x, start + y))
  const gaps = search === undefined ? [whole] : gapsOf(search, size)
  return gaps.map((gap) => ({ ...gap, from: gap.from + start, to: gap.to + start }))
}

interface Size {
  readonly before: number
  readonly after: number
}

/**
 * For each number of edits, from 0 on, how far into the first list each diagonal was followed: that of
 * `x - y = k` at place `k + edits`. The last one reaches the end of both lists. Undefined after too
 * many steps.
 */
function searchPath(
  { before, after }: Size,
  same: (x: number, y: number) => boolean,
): Int32Array[] | undefined {
  const reached: Int32Array[] = []
  for (let steps = 0, edits = 0; ; edits += 1) {
    const last = reached.at(-1)
    const now = new Int32Array(2 * edits + 1).fill(-1)
    reached.push(now)
    for (let k = -edits; k <= edits; k += 2) {
      let x = last === undefined ? 0 : beginOf(last, edits, k).x
      while (x < before && x - k < after && same(x, x - k)) {
        x += 1
        steps += 1
      }
      now[k + edits] = x
      if (x >= before && x - k >= after) return reached
      steps += 1
    }
    if (steps > MAX_STEPS) return undefined
  }
}

/** Where a diagonal begins after one more edit: an item of the second list added, or one removed. */
function beginOf(last: Int32Array, edits: number, k: number): { x: number; isAdded: boolean } {
  const added = last[k + edits] ?? -1
  const removed = last[k + edits - 2] ?? -1
  return removed < added ? { x: added, isAdded: true } : { x: removed + 1, isAdded: false }
}

/** Goes back from the end of both lists, edit by edit. */
function gapsOf(reached: readonly Int32Array[], { before, after }: Size): Gap[] {
  const gaps: Gap[] = []
  let k = before - after
  for (let edits = reached.length - 1; edits > 0; edits -= 1) {
    const { x, isAdded } = beginOf(reached[edits - 1] as Int32Array, edits, k)
    const from = isAdded ? x : x - 1
    const to = isAdded ? x - k - 1 : x - k
    const gap = { from, removed: isAdded ? 0 : 1, to, added: isAdded ? 1 : 0 }
    const next = gaps[0]
    if (next?.from === x && next.to === x - k) {
      gaps[0] = { from, removed: gap.removed + next.removed, to, added: gap.added + next.added }
    } else gaps.unshift(gap)
    k += isAdded ? 1 : -1
  }
  return gaps
}
