import { OpenError } from '../datafile/encryption.ts'
import { DashkeepError } from '../errors.ts'
import type { RawHit } from '../export/export-scanner.ts'
import type { HitName } from '../export/hit-summary.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Manifest } from './manifest.ts'
import { type ReadOptions, scanObjects } from './read-objects.ts'

/** An export in the archive. Its objects are the same in all snapshots from `manifest` to `last`. */
export interface StoredExport {
  readonly store: ObjectStore
  readonly type: string
  /** The first snapshot with these objects. */
  readonly manifest: Manifest
  /** Name of the last snapshot with these objects. */
  readonly last: string
  /** Manifests of copies: different files with these same objects. The first is `manifest`. */
  readonly copies: readonly Manifest[]
}

/** The exports of one snapshot. */
export function exportsOf(
  store: ObjectStore,
  manifest: Manifest,
  types: readonly string[] = manifest.exports.map(({ type }) => type),
): StoredExport[] {
  const { snapshot: last } = manifest
  return types.map((type) => ({ store, type, manifest, last, copies: [manifest] }))
}

/** Options for searching exports. */
export interface SearchOptions extends ReadOptions {
  /**
   * Called for each file that is damaged or that no configured key opens. The file is then skipped.
   * Without this function, the first such file throws.
   */
  readonly onUnreadable?: ((error: DashkeepError) => void) | undefined
}

/**
 * Returns the results of `pick` for the objects of an export, in the order received. If a copy of the
 * export cannot be read, reads the next one. Returns undefined when no copy can be read.
 */
export async function pickObjects<Item>(
  { store, type, copies }: StoredExport,
  pick: (object: HitName, hit: RawHit) => Item | undefined,
  { onUnreadable, ...options }: SearchOptions = {},
): Promise<Item[] | undefined> {
  for (const manifest of copies) {
    const items: Item[] = []
    try {
      await scanObjects(store, manifest, type, {
        ...options,
        onObject(object, hit) {
          const item = pick(object, hit)
          if (item !== undefined) items.push(item)
        },
      })
      return items
    } catch (error) {
      if (onUnreadable === undefined || !isUnreadable(error)) throw error
      onUnreadable(error)
    }
  }
  return undefined
}

function isUnreadable(error: unknown): error is DashkeepError {
  const isDamage = error instanceof DashkeepError && error.kind === 'unverified'
  return isDamage || error instanceof OpenError
}
