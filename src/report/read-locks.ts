import { dataFileKey, fileKey, manifestName } from '../archive/archive.ts'
import type { Manifest } from '../archive/manifest.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { ReadSnapshot } from './read-snapshot.ts'

/** Until when the server locks the files of two snapshots; undefined for one that is not locked. */
export interface SnapshotLocks {
  readonly oldest?: Date | undefined
  readonly newest?: Date | undefined
  /** Why the server does not tell. */
  readonly error?: string | undefined
}

/**
 * Asks for the locks of the oldest and the newest readable snapshot. Returns undefined when the store
 * has no locks, or when neither is locked.
 */
export async function readLocks(
  store: ObjectStore,
  snapshots: readonly ReadSnapshot[],
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<SnapshotLocks | undefined> {
  const manifests = snapshots.flatMap(({ manifest }) => manifest ?? [])
  const [first, last] = [manifests[0], manifests.at(-1)]
  if (store.lockedUntil === undefined || first === undefined || last === undefined) return undefined
  const read = async (manifest: Manifest) => {
    const until = await readEnd(store, manifest, { signal })
    return until !== undefined && until > now ? until : undefined
  }
  try {
    const newest = await read(last)
    const oldest = first === last ? newest : await read(first)
    return oldest === undefined && newest === undefined ? undefined : { oldest, newest }
  } catch (error) {
    signal?.throwIfAborted()
    return { error: (error as Error).message }
  }
}

/** The end of the first lock that ends; undefined when a file of the snapshot has no lock. */
async function readEnd(
  store: ObjectStore,
  manifest: Manifest,
  options: { signal?: AbortSignal | undefined },
): Promise<Date | undefined> {
  const { account, snapshot, exports } = manifest
  const files = exports.map(({ file }) => dataFileKey(manifest, file))
  let first: Date | undefined
  for (const key of [fileKey(account.id, snapshot, manifestName), ...files]) {
    const until = await store.lockedUntil?.(key, options)
    if (until === undefined) return undefined
    if (first === undefined || until < first) first = until
  }
  return first
}
