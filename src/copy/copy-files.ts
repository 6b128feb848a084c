import { dataFileKey, fileKey, manifestName } from '../archive/archive.ts'
import { type Manifest, type ManifestExport, maxManifestBytes } from '../archive/manifest.ts'
import { exportMetadata, snapshotMetadata } from '../archive/take-options.ts'
import { copyDataFile, proveStoredBytes } from '../datafile/data-file.ts'
import { type ObjectStore, ObjectTooLargeError } from '../store/object-store.ts'

/** A file is copied from `source` to `target`, under the same key. */
export interface Direction {
  readonly source: ObjectStore
  readonly target: ObjectStore
}

/** How a file is copied. */
export interface CopyFileOptions {
  /** Locks of the target begin at this moment, where it is configured to lock. */
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

/** What is wrong with a file, and in which of the two stores. */
export interface FileDefect {
  readonly side: keyof Direction
  readonly key: string
  /** What was found, for people. */
  readonly problem: string
}

/**
 * Copies the data file of an export and reads it back. Returns what is wrong when the source does not
 * have the bytes that the manifest describes, or when the target returns other ones.
 */
export async function copyExportFile(
  direction: Direction,
  manifest: Manifest,
  { type, kibanaVersion, file }: ManifestExport,
  { now, signal }: CopyFileOptions,
): Promise<FileDefect | undefined> {
  const key = dataFileKey(manifest, file)
  const metadata = { ...metadataOf(manifest), ...exportMetadata(type, kibanaVersion) }
  const unfit = await copyDataFile(direction, key, file, { metadata, lockFrom: now, signal })
  if (unfit) return { side: 'source', key, problem: unfit.detail }
  const differing = await proveStoredBytes(direction.target, key, file, { signal })
  return differing && { side: 'target', key, problem: differing.detail }
}

/** Writes a manifest, byte for byte, and reads it back. Returns what is wrong with the copy. */
export async function copyManifest(
  { target }: Pick<Direction, 'target'>,
  { manifest, bytes }: { manifest: Manifest; bytes: Uint8Array },
  { now, signal }: CopyFileOptions,
): Promise<FileDefect | undefined> {
  const { account, snapshot } = manifest
  const key = fileKey(account.id, snapshot, manifestName)
  await target.put(key, bytes, { metadata: metadataOf(manifest), lockFrom: now, signal })
  return compareManifest(target, key, bytes, { signal })
}

/** Says how a manifest of the target differs from the bytes of the source. */
export async function compareManifest(
  target: ObjectStore,
  key: string,
  bytes: Uint8Array,
  { signal }: { signal?: AbortSignal | undefined },
): Promise<FileDefect | undefined> {
  const found = await target
    .get(key, { maxBytes: maxManifestBytes, signal })
    .catch((error): Uint8Array => {
      if (error instanceof ObjectTooLargeError) return new Uint8Array()
      throw error
    })
  if (found === undefined) return { side: 'target', key, problem: 'it is not there' }
  if (Buffer.from(bytes).equals(found)) return undefined
  return { side: 'target', key, problem: 'it is another manifest' }
}

function metadataOf({ takenAt, account }: Manifest) {
  return snapshotMetadata(new Date(takenAt), account.id)
}
