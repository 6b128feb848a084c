import { canOpen, explainUnreadable } from '../datafile/data-file.ts'
import type { Opener } from '../datafile/encryption.ts'
import type { SortedIndex } from '../export/content-digest.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey } from './archive.ts'
import type { ChangeCounts, Manifest, ManifestExport } from './manifest.ts'
import { proveExport } from './prove-export.ts'

/** Longest list of objects named for one type and kind of change; the counts are always whole. */
const MAX_NAMED = 1000

/** An object that came, went or changed. */
export interface NamedObject {
  readonly id: string
  readonly title: string | undefined
}

/** How the objects of one type changed: counts, and the objects by name (at most 1,000 a kind). */
export interface TypeChanges {
  readonly type: string
  readonly counts: ChangeCounts
  readonly added: readonly NamedObject[]
  readonly removed: readonly NamedObject[]
  readonly changed: readonly NamedObject[]
}

/** No object of a type changed. */
export function noChanges(type: string): TypeChanges {
  const counts = { added: 0, removed: 0, changed: 0 }
  return { type, counts, added: [], removed: [], changed: [] }
}

/** The changes of all types together. */
export function totalChanges(changes: readonly TypeChanges[]): ChangeCounts {
  const total = (kind: keyof ChangeCounts) =>
    changes.reduce((sum, { counts }) => sum + counts[kind], 0)
  return { added: total('added'), removed: total('removed'), changed: total('changed') }
}

/** Compares one export with the previous one while both are read once, as streams. */
export interface ChangeFinder {
  /** Takes each object of the new export, in any order. */
  see(object: NamedObject): void
  finish(): TypeChanges
}

const UNMATCHED = 0
const SAME = 1
const CHANGED = 2

/**
 * Reads the previous export of a type from the archive and holds it against the index of the new
 * one. Returns a finder that learns the titles of new objects as the new export is read, or what
 * is wrong with the previous export; nothing when that is encrypted and no key at
 * hand opens it.
 */
export async function compareWithPrevious(
  store: ObjectStore,
  previous: { manifest: Manifest; entry: ManifestExport },
  index: SortedIndex,
  options: {
    limits?: ScanLimits | undefined
    opener?: Opener | undefined
    signal?: AbortSignal | undefined
  } = {},
): Promise<{ finder?: ChangeFinder; defect?: string }> {
  const { manifest, entry } = previous
  if (!canOpen(entry.file, options.opener)) return {}
  const states = new Uint8Array(index.count)
  const removed: NamedObject[] = []
  let removedCount = 0
  const key = dataFileKey(manifest, entry.file)
  const reading = proveExport(store, key, entry, {
    ...options,
    onObject({ id, title }, hit) {
      const place = index.find(id)
      if (place >= 0) {
        states[place] = index.matches(place, hit) ? SAME : CHANGED
        return
      }
      removedCount += 1
      if (removed.length < MAX_NAMED) removed.push({ id, title })
    },
  })
  const { content, defect } = await reading.catch((error) => ({
    content: undefined,
    defect: explainUnreadable(error, options.signal),
  }))
  if (content === undefined) return defect === undefined ? {} : { defect }
  const gone = { named: removed, count: removedCount }
  return { finder: createFinder(entry.type, index, states, gone) }
}

function createFinder(
  type: string,
  index: SortedIndex,
  states: Uint8Array,
  removed: { named: NamedObject[]; count: number },
): ChangeFinder {
  const added: NamedObject[] = []
  const changed: NamedObject[] = []
  return {
    see({ id, title }) {
      const state = states[index.find(id)]
      const list = state === UNMATCHED ? added : state === CHANGED ? changed : undefined
      if (list !== undefined && list.length < MAX_NAMED) list.push({ id, title })
    },
    finish() {
      const counts = { added: 0, removed: removed.count, changed: 0 }
      for (const [place, state] of states.entries()) {
        if (index.isDuplicate(place)) continue
        if (state === UNMATCHED) counts.added += 1
        else if (state === CHANGED) counts.changed += 1
      }
      return { type, counts, added, removed: removed.named, changed }
    },
  }
}
