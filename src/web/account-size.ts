import { pMapIterable } from 'p-map'
import { listFolders, type SnapshotFolder, sizeOf, tryReadManifest } from '../archive/archive.ts'
import { splitByTime } from '../archive/future.ts'
import { countObjects, ManifestError } from '../archive/manifest.ts'
import type { LibraryOptions } from './library-options.ts'

/** What an account takes in the archive, and how many objects it had. */
export interface AccountSize {
  readonly snapshots: number
  /** Bytes of all its files. */
  readonly bytes: number
  /** Objects in each of the newest snapshots, oldest first. */
  readonly counts: readonly number[]
  /** Whether each of these could be counted. */
  readonly isComplete: boolean
}

/** Snapshots whose objects are counted. */
const COUNTED_SNAPSHOTS = 30
/** Manifests read at once. */
const CONCURRENCY = 8

/** Lists an account, and reads the manifests of its newest snapshots. */
export async function readSize(
  { store, now, read: { signal } }: LibraryOptions,
  accountId: number,
): Promise<AccountSize> {
  const folders = await Array.fromAsync(listFolders(store, { accountId, signal }))
  const complete = folders.filter((folder) => folder.complete)
  const newest = splitByTime(complete, now()).past.slice(-COUNTED_SNAPSHOTS)
  const read = ({ snapshot }: SnapshotFolder) =>
    tryReadManifest(store, accountId, snapshot, { signal })
  const manifests = await Array.fromAsync(pMapIterable(newest, read, { concurrency: CONCURRENCY }))
  const counts = manifests.flatMap((one) =>
    one instanceof ManifestError ? [] : countObjects(one.manifest),
  )
  return {
    snapshots: complete.length,
    bytes: folders.reduce((sum, folder) => sum + sizeOf(folder), 0),
    counts,
    isComplete: counts.length === newest.length,
  }
}
