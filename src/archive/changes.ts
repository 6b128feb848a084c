import { canOpen, explainUnreadable } from '../datafile/data-file.ts'
import type { Opener } from '../datafile/encryption.ts'
import type { SortedIndex } from '../export/content-digest.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey } from './archive.ts'
import { type Change, createComparison, type NamedObject } from './compare.ts'
import type { ChangeCounts, Manifest, ManifestExport } from './manifest.ts'
import { proveExport } from './prove-export.ts'

/** Longest list of objects named for one type and kind of change; the counts are always whole. */
const MAX_NAMED = 1000

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

/** The second half of a comparison: collects the changes while the new export is read. */
export interface ChangeFinder {
  /** Takes each object of the new export, in any order. */
  see(object: NamedObject): void
  finish(): TypeChanges
}

/**
 * Compares the previous export of a type in the archive with the index of the new export. Returns a
 * finder, which learns the titles of new objects when it sees them, or what is wrong with the previous
 * export. Returns neither when the previous export is encrypted and no configured key opens it.
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
  const named: Record<Change, NamedObject[]> = { added: [], removed: [], changed: [], touched: [] }
  const comparison = createComparison({ index }, (change, object) => {
    if (named[change].length < MAX_NAMED) named[change].push(object)
  })
  const key = dataFileKey(manifest, entry.file)
  const reading = proveExport(store, key, entry, { ...options, onObject: comparison.seeOlder })
  const { content, defect } = await reading.catch((error) => ({
    content: undefined,
    defect: explainUnreadable(error, options.signal),
  }))
  if (content === undefined) return defect === undefined ? {} : { defect }
  const finish = (): TypeChanges => {
    const { added, removed, changed } = comparison.counts()
    const counts = { added, removed, changed }
    return {
      type: entry.type,
      counts,
      added: named.added,
      removed: named.removed,
      changed: named.changed,
    }
  }
  return { finder: { see: comparison.seeNewer, finish } }
}
