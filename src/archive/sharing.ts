import { isDeepStrictEqual } from 'node:util'
import { explainUnreadable, proveStoredBytes } from '../datafile/data-file.ts'
import { HEAD_BYTES, type Sealer } from '../datafile/encryption.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { dataFileKey, fileKey, manifestName } from './archive.ts'
import { countFileBytes, holderOf, type Manifest, type ManifestExport } from './manifest.ts'
import { defaultTakeOptions } from './take-options.ts'

/** How long a proof is valid: a day less than the documented seven, for runs once a day. */
const PROOF_LASTS_MS = 6 * 24 * 3600_000

/** Options for sharing the files of an earlier snapshot. */
interface SharingOptions {
  /** Time of the new snapshot. */
  readonly takenAt: Date
  /** Total size up to which files are proven in each run. */
  readonly proveEachRunBytes?: number | undefined
  /** Encrypts the new snapshot. Files that were encrypted with another passphrase are not shared. */
  readonly sealer?: Sealer | undefined
  readonly signal?: AbortSignal | undefined
}

/** Whether files may be shared. */
export interface Sharing {
  /** When the files were last proven (ISO 8601); undefined when they cannot be shared. */
  readonly provenAt?: string | undefined
  /** Problems of the files. */
  readonly warnings: readonly string[]
}

/**
 * Whether every type has exactly the objects of the previous snapshot. The kibanaVersion must be the
 * same too, because a restore depends on it, and the recipients of the encryption.
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
 * Prepares the files of a manifest so that a new snapshot can share them. When a proof is due, reads
 * their stored bytes and compares the SHA-256. Then extends their locks.
 *
 * Without this proof, later snapshots would share a damaged file again and again, although the service
 * sends sound data each time. A file that the store cannot return is not shared.
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
  const lock = { lockFrom: options.takenAt, signal: options.signal }
  if (!(await protectFiles(store, manifest, lock))) return { warnings: [] }
  return { provenAt: due ? options.takenAt.toISOString() : lastProof(manifest), warnings: [] }
}

/** Whether the files must be proven before they are shared. Pure. */
function isProofDue(
  manifest: Manifest,
  { takenAt, proveEachRunBytes = defaultTakeOptions.proveEachRunBytes }: SharingOptions,
): boolean {
  const bytes = countFileBytes(manifest)
  const provenAt = lastProof(manifest)
  if (bytes <= proveEachRunBytes || provenAt === undefined) return true
  const age = takenAt.getTime() - Date.parse(provenAt)
  return age < 0 || age >= PROOF_LASTS_MS
}

/** When the files were last proven. A run proves all files that it stores. Older manifests lack it. */
function lastProof({ filesProvenAt, sameAs, takenAt }: Manifest): string | undefined {
  return filesProvenAt ?? (sameAs === undefined ? takenAt : undefined)
}

/** Returns the problems of the files. Reads all files at the same time. */
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
 * Checks whether the files were encrypted with the configured passphrase. Tries it on the header of the
 * first file, because one run wrote all of them. So the manifest needs no fingerprint of the passphrase,
 * which would help to guess it, and this works with older archives too.
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

/** The warning about a damaged file of the previous snapshot. */
export function warnOfDamage(defect: string): string {
  return `the previous snapshot is damaged: ${defect}`
}

/**
 * Extends the locks of the files that a manifest describes, as if they were written at `lockFrom`. Call
 * it before a manifest that shares them is written. Returns false when a file cannot be locked like a
 * new one.
 */
export async function protectFiles(
  store: ObjectStore,
  manifest: Manifest,
  options: { lockFrom: Date; signal?: AbortSignal | undefined },
): Promise<boolean> {
  if (store.protect === undefined) return true
  const { account, exports } = manifest
  const keys = exports.map(({ file }) => dataFileKey(manifest, file))
  for (const key of [fileKey(account.id, holderOf(manifest), manifestName), ...keys]) {
    if (!(await store.protect(key, options))) return false
  }
  return true
}
