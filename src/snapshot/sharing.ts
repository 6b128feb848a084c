import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey, fileKey, manifestName } from './archive.ts'
import { explainUnreadable, proveStoredBytes } from './data-file.ts'
import type { Manifest, ManifestExport } from './manifest.ts'

/** Files up to this size in total are proven in each run, unless told otherwise. */
const defaultProveEachRunBytes = 64 * 1024 ** 2

/** A day less than the seven that are promised, so that a daily run does not come too late. */
const PROOF_LASTS_MS = 6 * 24 * 3600_000

/** What decides whether an unchanged snapshot may share the files of an earlier one. */
export interface SharingOptions {
  /** When the new snapshot counts as taken. */
  readonly takenAt: Date
  /** Files up to this size in total are proven in each run. */
  readonly proveEachRunBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Whether files may be shared. */
export interface Sharing {
  /** When the files were last proven (ISO 8601); undefined when they must not be shared. */
  readonly provenAt?: string | undefined
  /** What is wrong with the files, for people. */
  readonly warnings: readonly string[]
}

/**
 * Prepares the files that a manifest describes for being shared by a new snapshot: reads their
 * stored bytes and compares the SHA-256, when that is due, and extends their locks.
 *
 * Without the proof one damaged byte would be passed on from snapshot to snapshot, although the
 * service sends sound data each time. A file that the store cannot return is not shared either.
 */
export async function prepareSharing(
  store: ObjectStore,
  manifest: Manifest,
  options: SharingOptions,
): Promise<Sharing> {
  const due = isProofDue(manifest, options)
  const warnings = due ? await proveFiles(store, manifest, options) : []
  if (warnings.length > 0 || !(await protectFiles(store, manifest, options))) return { warnings }
  return { provenAt: due ? options.takenAt.toISOString() : lastProof(manifest), warnings }
}

/** Whether the files have to be proven before they are shared. Pure. */
export function isProofDue(
  manifest: Manifest,
  { takenAt, proveEachRunBytes = defaultProveEachRunBytes }: SharingOptions,
): boolean {
  const bytes = manifest.exports.reduce((sum, { file }) => sum + file.stored.bytes, 0)
  const provenAt = lastProof(manifest)
  if (bytes <= proveEachRunBytes || provenAt === undefined) return true
  const age = takenAt.getTime() - Date.parse(provenAt)
  return age < 0 || age >= PROOF_LASTS_MS
}

/** When the files were last proven; a run reads back what it stores. Older manifests do not say. */
function lastProof({ filesProvenAt, sameAs, takenAt }: Manifest): string | undefined {
  return filesProvenAt ?? (sameAs === undefined ? takenAt : undefined)
}

/** Returns what is wrong with the files, for people. Reads them all at once. */
async function proveFiles(
  store: ObjectStore,
  manifest: Manifest,
  { signal }: SharingOptions,
): Promise<string[]> {
  const prove = async ({ file }: ManifestExport): Promise<string[]> => {
    const key = dataFileKey(manifest, file)
    try {
      const defect = await proveStoredBytes(store, key, file, { signal })
      return defect === undefined ? [] : [warnOfDamage(`${key}: ${defect.detail}`)]
    } catch (error) {
      return [warnOfDamage(explainUnreadable(error, signal))]
    }
  }
  return (await Promise.all(manifest.exports.map(prove))).flat()
}

/** The warning of a run that found a file of the previous snapshot damaged. */
export function warnOfDamage(defect: string): string {
  return `the previous snapshot is damaged: ${defect}`
}

/**
 * Makes the lock of what an unchanged snapshot is going to share last as long as that of its own
 * manifest, and before there is one. Returns false when a file cannot be protected as a new one is.
 */
async function protectFiles(
  store: ObjectStore,
  manifest: Manifest,
  { takenAt, signal }: SharingOptions,
): Promise<boolean> {
  if (store.protect === undefined) return true
  const { account, snapshot, sameAs, exports } = manifest
  const keys = exports.map(({ file }) => dataFileKey(manifest, file))
  for (const key of [fileKey(account.id, sameAs ?? snapshot, manifestName), ...keys]) {
    if (!(await store.protect(key, { lockFrom: takenAt, signal }))) return false
  }
  return true
}
