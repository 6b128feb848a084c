import { type SnapshotFolder, tryReadManifest } from '../archive/archive.ts'
import { findListedDefect } from '../archive/listed-files.ts'
import { holderOf, type Manifest, ManifestError } from '../archive/manifest.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** A snapshot of the archive as the report judges it. */
export interface ReadSnapshot {
  readonly folder: SnapshotFolder
  readonly snapshot: string
  /** Time of the snapshot, to the second, from its name. */
  readonly takenAt: Date
  readonly state: 'good' | 'suspect' | 'damaged'
  /** Undefined when the manifest cannot be read. */
  readonly manifest: Manifest | undefined
  /** Why it is damaged; otherwise undefined. */
  readonly problem: string | undefined
}

/**
 * Reads the manifest of a snapshot and judges it. It is damaged when its manifest cannot be read, or
 * when the listing or `verify` shows damage to its files. Otherwise, its manifest says whether it is
 * suspect. `folders` are all folders of the account, by name.
 */
export async function readSnapshot(
  store: ObjectStore,
  folder: SnapshotFolder,
  folders: ReadonlyMap<string, SnapshotFolder>,
  options: { signal?: AbortSignal | undefined },
): Promise<ReadSnapshot> {
  const { accountId, snapshot, takenAt } = folder
  const stored = await tryReadManifest(store, accountId, snapshot, options)
  if (stored instanceof ManifestError) {
    const problem = stored.message
    return { folder, snapshot, takenAt, state: 'damaged', manifest: undefined, problem }
  }
  const { manifest } = stored
  const holder = holderOf(manifest)
  const defect = findListedDefect(manifest, folders.get(holder)?.files)
  const problem = defect && `files of snapshot ${holder} ${defect}`
  const judged = manifest.suspect === undefined ? 'good' : 'suspect'
  return { folder, snapshot, takenAt, state: problem ? 'damaged' : judged, manifest, problem }
}
