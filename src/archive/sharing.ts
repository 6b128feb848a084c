import { isDeepStrictEqual } from 'node:util'
import { explainUnreadable, proveStoredBytes } from '../datafile/data-file.ts'
import { HEAD_BYTES, type Sealer } from '../datafile/encryption.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey, fileKey, manifestName } from './archive.ts'
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
  /** Encrypts the new snapshot. Files that were sealed with another passphrase are not shared. */
  readonly sealer?: Sealer | undefined
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
 * Whether every type holds the very objects of the previous snapshot. The documents must come from
 * the same kibanaVersion too, since a restore depends on it, and be encrypted for the same
 * recipients.
 */
export function isUnchanged(entries: readonly ManifestExport[], previous: Manifest): boolean {
  if (previous.exports.length !== entries.length) return false
  return entries.every((entry) =>
    previous.exports.some(
      (other) =>
        other.type === entry.type &&
        other.contentDigest === entry.contentDigest &&
        other.kibanaVersion === entry.kibanaVersion &&
        isDeepStrictEqual(other.file.encryption, entry.file.encryption),
    ),
  )
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
  if (warnings.length > 0) return { warnings }
  const passphrase = await tryPassphrase(store, manifest, options)
  if (!passphrase.fits) return { warnings: passphrase.warnings }
  if (!(await protectFiles(store, manifest, options))) return { warnings: [] }
  return { provenAt: due ? options.takenAt.toISOString() : lastProof(manifest), warnings: [] }
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

/**
 * Says whether the files were encrypted with the passphrase that is configured now. Tries it on the
 * header of the first file, since one run with one passphrase wrote them all. So the manifest needs
 * no fingerprint of the passphrase, which would be one more thing to guess it by, and archives that
 * were made before are treated alike.
 */
async function tryPassphrase(
  store: ObjectStore,
  manifest: Manifest,
  { sealer, signal }: SharingOptions,
): Promise<{ fits: boolean; warnings: string[] }> {
  const [first] = manifest.exports
  if (sealer?.hasSealed === undefined || first === undefined) return { fits: true, warnings: [] }
  const key = dataFileKey(manifest, first.file)
  try {
    const body = await store.open(key, { signal })
    if (body === undefined) return { fits: false, warnings: [warnOfDamage(`${key}: it is gone`)] }
    return { fits: await sealer.hasSealed(await readHead(body)), warnings: [] }
  } catch (error) {
    return { fits: false, warnings: [warnOfDamage(explainUnreadable(error, signal))] }
  }
}

async function readHead(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(Uint8Array.from(chunk.subarray(0, HEAD_BYTES - bytes)))
    bytes += chunk.length
    if (bytes >= HEAD_BYTES) break
  }
  return Buffer.concat(chunks)
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
