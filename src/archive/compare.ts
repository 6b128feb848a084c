import type { SortedIndex } from '../export/content-digest.ts'
import type { RawHit } from '../export/export-scanner.ts'

/** Id and title of an object. */
export interface NamedObject {
  /** `<type>:<object id>`. Empty for hits without an id, which count as one object. */
  readonly id: string
  readonly title: string | undefined
}

/** How an object differs between two exports. */
export type Change = 'added' | 'removed' | 'changed' | 'touched'

/** Compares the objects of two exports of one type. Each export is read as a stream. */
interface Comparison {
  /** Takes each object of the older export, in any order. */
  seeOlder(object: NamedObject, hit: RawHit): void
  /** Takes each object of the newer export, in any order, after the older export. */
  seeNewer(object: NamedObject): void
  /** Number of objects by change, after the older export. Duplicates of the newer export count once. */
  counts(): Record<Change | 'unchanged', number>
}

const states = ['added', 'changed', 'touched', 'unchanged'] as const
const [ADDED, CHANGED, TOUCHED, UNCHANGED] = [0, 1, 2, 3]

/**
 * Creates a comparison with the newer export, which is given as an index. Passes each object that
 * differs to `onChange`. Without a `touchIndex`, touched objects count as unchanged.
 */
export function createComparison(
  { index, touchIndex }: { index: SortedIndex; touchIndex?: SortedIndex },
  onChange: (change: Change, object: NamedObject) => void,
): Comparison {
  /** The state of each object in the index. */
  const found = new Uint8Array(index.count).fill(ADDED)
  let removed = 0

  function stateOf(id: string, at: number, hit: RawHit): number {
    if (!index.matches(at, hit)) return CHANGED
    if (touchIndex === undefined) return UNCHANGED
    return touchIndex.matches(touchIndex.find(id), hit) ? UNCHANGED : TOUCHED
  }

  return {
    seeOlder({ id, title }, hit) {
      const at = index.find(id)
      if (at >= 0) {
        found[at] = stateOf(id, at, hit)
        return
      }
      removed += 1
      onChange('removed', { id, title })
    },
    seeNewer({ id, title }) {
      const state = states[found[index.find(id)] ?? UNCHANGED]
      if (state !== undefined && state !== 'unchanged') onChange(state, { id, title })
    },
    counts() {
      const counts = { added: 0, removed, changed: 0, touched: 0, unchanged: 0 }
      for (const [at, state] of found.entries()) {
        const name = states[state]
        if (name !== undefined && !index.isDuplicate(at)) counts[name] += 1
      }
      return counts
    },
  }
}
