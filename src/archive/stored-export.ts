import { OpenError } from '../datafile/encryption.ts'
import { DashkeepError } from '../errors.ts'
import type { RawHit } from '../export/export-scanner.ts'
import type { HitSummary } from '../export/hit-summary.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Manifest } from './manifest.ts'
import { type ReadOptions, scanObjects } from './read-objects.ts'

/** An export of a type in the archive, standing for all snapshots up to `last`. */
export interface StoredExport {
  readonly store: ObjectStore
  readonly type: string
  /** The first snapshot that holds these objects. */
  readonly manifest: Manifest
  /** Name of the last snapshot that holds the same objects. */
  readonly last: string
  /** Manifests that describe files of their own with these objects; `manifest` is the first. */
  readonly copies: readonly Manifest[]
}

/** The exports of one snapshot alone. */
export function exportsOf(
  store: ObjectStore,
  manifest: Manifest,
  types: readonly string[] = manifest.exports.map(({ type }) => type),
): StoredExport[] {
  const { snapshot: last } = manifest
  return types.map((type) => ({ store, type, manifest, last, copies: [manifest] }))
}

/** How a search reads exports. */
export interface SearchOptions extends ReadOptions {
  /**
   * Called for each file that is damaged or that no key at hand opens, which is then passed over.
   * Without it the first one throws.
   */
  readonly onUnreadable?: ((error: DashkeepError) => void) | undefined
}

/**
 * Returns what `pick` takes of the objects of an export, in the order received, and undefined when
 * no copy of it can be read. Such a copy gives nothing: the next one is read instead.
 */
export async function pickObjects<Item>(
  { store, type, copies }: StoredExport,
  pick: (object: HitSummary, hit: RawHit) => Item | undefined,
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
