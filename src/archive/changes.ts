import { canOpen, explainUnreadable } from '../datafile/data-file.ts'
import type { Opener } from '../datafile/encryption.ts'
import type { SortedIndex } from '../export/content-digest.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import { createObjectScan } from '../export/scan-export.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey } from './archive.ts'
import { type Change, createComparison, type NamedObject } from './compare.ts'
import type { ChangeCounts, Manifest, ManifestExport } from './manifest.ts'
import { proveExport } from './prove-export.ts'

/** Longest list of objects for one type and one kind of change. The counts have no limit. */
const MAX_NAMED = 1000

/** How the objects of one type changed: counts, and at most 1,000 objects for each kind of change. */
export interface TypeChanges {
  readonly type: string
  readonly counts: ChangeCounts
  readonly added: readonly NamedObject[]
  readonly removed: readonly NamedObject[]
  readonly changed: readonly NamedObject[]
}

/** The result when no object of a type changed. */
export function noChanges(type: string): TypeChanges {
  const counts = { added: 0, removed: 0, changed: 0 }
  return { type, counts, added: [], removed: [], changed: [] }
}

/** Sums the changes of all types. */
export function totalChanges(changes: readonly TypeChanges[]): ChangeCounts {
  const total = (kind: keyof ChangeCounts) =>
    changes.reduce((sum, { counts }) => sum + counts[kind], 0)
  return { added: total('added'), removed: total('removed'), changed: total('changed') }
}

/** Collects the changes while the new export is read. */
export interface ChangeFinder {
  /** Takes each object of the new export, in any order. */
  see(object: NamedObject): void
  finish(): TypeChanges
}

/**
 * Compares the previous export of a type in the archive with the index of the new export. Returns a
 * finder, which gets the titles of new objects from `see`, or the defect of the previous export. Returns
 * neither when the previous export is encrypted and no configured key opens it.
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
  const { limits } = options
  const scan = createObjectScan(entry.type, { limits, onObject: comparison.seeOlder })
  const reading = proveExport(store, key, { file: entry.file, scan }, options)
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
