import { createObjectIndex } from '../export/content-digest.ts'
import { compareValues } from '../order.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey } from './archive.ts'
import { createComparison, type NamedObject } from './compare.ts'
import { createHeapBudget } from './heap-budget.ts'
import type { Manifest } from './manifest.ts'
import {
  exportOf,
  indexObjects,
  proveFile,
  type ReadOptions,
  type StoredHit,
  scanObjects,
} from './read-objects.ts'

/** A snapshot and its store. */
export interface SnapshotSide {
  readonly store: ObjectStore
  readonly manifest: Manifest
}

/** How the objects of one type differ between two snapshots. Each is in at most one list. */
export interface TypeDiff {
  readonly type: string
  readonly added: readonly NamedObject[]
  readonly removed: readonly NamedObject[]
  /** Stable members differ (see `stableBytes`). */
  readonly changed: readonly NamedObject[]
  /** Only `updated_at`, `version` or `_updatedAt` differ. */
  readonly touched: readonly NamedObject[]
  readonly unchanged: number
}

/** The types of both snapshots, and the types of only one of them. */
export function sharedTypes(
  before: Manifest,
  after: Manifest,
): { shared: string[]; onlyBefore: string[]; onlyAfter: string[] } {
  const typesBefore = before.exports.map(({ type }) => type)
  const typesAfter = after.exports.map(({ type }) => type)
  return {
    shared: typesBefore.filter((type) => typesAfter.includes(type)),
    onlyBefore: typesBefore.filter((type) => !typesAfter.includes(type)),
    onlyAfter: typesAfter.filter((type) => !typesBefore.includes(type)),
  }
}

/**
 * Compares the objects of one type. Needs 64 bytes of memory for each object, and the names of the
 * objects that differ. When both files have the same content, the files are proven but not
 * compared, and no key is needed. Throws as `scanObjects` does.
 */
export async function diffType(
  before: SnapshotSide,
  after: SnapshotSide,
  type: string,
  options: ReadOptions = {},
): Promise<TypeDiff> {
  const [left, right] = [exportOf(before.manifest, type), exportOf(after.manifest, type)]
  const none = { type, added: [], removed: [], changed: [], touched: [] }
  if (left.file.content.sha256 === right.file.content.sha256) {
    await proveFile(after.store, after.manifest, type, options)
    if (!isSameFile(before, after, type)) {
      await proveFile(before.store, before.manifest, type, options)
    }
    return { ...none, unchanged: right.objects }
  }
  const touches = createObjectIndex({ touches: true })
  const index = await indexObjects(after.store, after.manifest, type, {
    ...options,
    onObject: ({ id }, hit) => touches.add(id, hit),
  })
  const budget = createHeapBudget(`compare the objects of type ${type}`)
  const named = { added: new Map(), removed: new Map(), changed: new Map(), touched: new Map() }
  const indexes = { index, touchIndex: touches.finish() }
  const comparison = createComparison(indexes, (change, { id, title }) => {
    if (budget.hold(id, title)) named[change].set(id, { id, title })
  })
  const { seeOlder, seeNewer } = comparison
  await scanObjects(before.store, before.manifest, type, { ...options, onObject: seeOlder })
  budget.check()
  const { added, changed, touched, unchanged } = comparison.counts()
  if (added + changed + touched > 0) {
    await scanObjects(after.store, after.manifest, type, { ...options, onObject: seeNewer })
  }
  budget.check()
  return {
    type,
    added: sortById(named.added),
    removed: sortById(named.removed),
    changed: sortById(named.changed),
    touched: sortById(named.touched),
    unchanged,
  }
}

function sortById(objects: ReadonlyMap<string, NamedObject>): NamedObject[] {
  return [...objects.values()].sort((a, b) => compareValues(a.id, b.id))
}

function isSameFile(before: SnapshotSide, after: SnapshotSide, type: string): boolean {
  const keyOf = ({ manifest }: SnapshotSide) => dataFileKey(manifest, exportOf(manifest, type).file)
  return before.store === after.store && keyOf(before) === keyOf(after)
}

/** Both versions of one object. */
interface VersionPair {
  readonly id: string
  readonly before: StoredHit
  readonly after: StoredHit
}

/** Bytes of newer versions in memory. One object can exceed the limit. */
const BATCH_BYTES = 32 * 1024 * 1024

/**
 * Reads both versions of objects. Reads them in batches of `batchBytes` (32 MiB), each sorted by id,
 * and reads the exports again for each batch. Skips objects that are not in both snapshots. Of hits
 * with the same id, the last one counts.
 */
export async function* readPairs(
  before: SnapshotSide,
  after: SnapshotSide,
  type: string,
  ids: Iterable<string>,
  { batchBytes = BATCH_BYTES, ...options }: ReadOptions & { batchBytes?: number } = {},
): AsyncGenerator<VersionPair> {
  const pending = new Set(ids)
  while (pending.size > 0) {
    const newer = await readVersions(after, type, pending, { ...options, maxBytes: batchBytes })
    if (newer.size === 0) return
    const older = await readVersions(before, type, newer, options)
    for (const id of [...newer.keys()].sort()) {
      pending.delete(id)
      const pair = { before: older.get(id), after: newer.get(id) }
      if (pair.before && pair.after) yield { id, before: pair.before, after: pair.after }
    }
  }
}

async function readVersions(
  { store, manifest }: SnapshotSide,
  type: string,
  ids: { has(id: string): boolean },
  { maxBytes = Number.POSITIVE_INFINITY, ...options }: ReadOptions & { maxBytes?: number },
): Promise<Map<string, StoredHit>> {
  const found = new Map<string, StoredHit>()
  let bytes = 0
  await scanObjects(store, manifest, type, {
    ...options,
    onObject({ id, title }, hit) {
      if (!ids.has(id) || (bytes > maxBytes && !found.has(id))) return
      bytes += hit.bytes.length
      found.set(id, { id, title, bytes: Uint8Array.from(hit.bytes) })
    },
  })
  return found
}
