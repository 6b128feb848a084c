import { proveStoredBytes } from '../datafile/data-file.ts'
import { DashkeepError } from '../errors.ts'
import { createObjectScan } from '../export/scan-export.ts'
import {
  encodeReadable,
  fileKey,
  hasManifest,
  manifestName,
  type StoredManifest,
} from './archive.ts'
import { type ChangeFinder, compareWithPrevious, noChanges, type TypeChanges } from './changes.ts'
import { type Manifest, type ManifestExport, maxManifestBytes } from './manifest.ts'
import { proveExport } from './prove-export.ts'
import type { PendingExport } from './receive-exports.ts'
import { warnOfDamage } from './sharing.ts'
import { runMetadata, type SnapshotRun } from './take-options.ts'

/** Result of storing one export. */
interface StoringResult {
  readonly changes?: TypeChanges | undefined
  readonly warning?: string | undefined
}

/**
 * Makes the files of all exports visible at the same time, and reads each one back. Returns or throws
 * only after every file is done.
 */
export async function storeExports(
  run: SnapshotRun,
  exports: readonly PendingExport[],
  newest: StoredManifest | undefined,
): Promise<{ changes: TypeChanges[]; warnings: string[] }> {
  const stored = await Promise.allSettled(exports.map((one) => storeExport(run, one, newest)))
  const results = stored.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  return {
    changes: results.flatMap(({ changes }) => changes ?? []),
    warnings: results.flatMap(({ warning }) => warning ?? []),
  }
}

async function storeExport(
  run: SnapshotRun,
  pending: PendingExport,
  newest: StoredManifest | undefined,
): Promise<StoringResult> {
  const { entry, writer } = pending
  const { finder, defect, same } = await findChanges(run, pending, newest)
  await writer.commit()
  await readBack(run, entry, finder)
  run.onProgress?.({ step: 'stored', file: entry.file })
  return {
    changes: same ? noChanges(entry.type) : finder?.finish(),
    warning: defect && warnOfDamage(defect),
  }
}

async function findChanges(
  { store, signal, scanLimits, opener }: SnapshotRun,
  { entry, content }: PendingExport,
  newest: StoredManifest | undefined,
): Promise<{ finder?: ChangeFinder; defect?: string; same?: boolean }> {
  const before = newest?.manifest.exports.find((other) => other.type === entry.type)
  if (newest === undefined || before === undefined) return {}
  if (before.contentDigest === entry.contentDigest) return { same: true }
  const previous = { manifest: newest.manifest, entry: before }
  const options = { signal, opener, limits: scanLimits }
  return compareWithPrevious(store, previous, content.index, options)
}

/** Reads a file back and throws when its bytes are not those that were written. */
async function readBack(
  run: SnapshotRun,
  entry: ManifestExport,
  finder?: ChangeFinder,
): Promise<void> {
  const { store, signal, opener, scanLimits: limits } = run
  const key = fileKey(run.account.accountId, run.snapshot, entry.file.name)
  let defect: string | undefined
  if (finder === undefined) {
    defect = (await proveStoredBytes(store, key, entry.file, { signal }))?.detail
  } else {
    const scan = createObjectScan(entry.type, { limits, onObject: finder.see })
    const { file } = entry
    defect = (await proveExport(store, key, { file, scan }, { signal, opener, limits })).defect
  }
  if (defect !== undefined) throw notStored(key, defect)
}

/** Writes the manifest and reads it back. This is the commit: from here on the snapshot exists. */
export async function commitManifest(run: SnapshotRun, manifest: Manifest): Promise<void> {
  const { store, signal, account, snapshot, takenAt } = run
  const key = fileKey(account.accountId, snapshot, manifestName)
  const bytes = encodeReadable(manifest)
  await store.put(key, bytes, { metadata: runMetadata(run), lockFrom: takenAt, signal })
  const found = await store.get(key, { maxBytes: maxManifestBytes, signal })
  if (found !== undefined && Buffer.from(bytes).equals(found)) return
  // A wrong manifest would pass for a snapshot, so it is removed.
  if (found !== undefined) await store.remove(key, { signal }).catch(() => {})
  throw notStored(key, found === undefined ? 'it is not there' : 'it reads back as other bytes')
}

/**
 * Checks, after the commit, that no prune has begun to remove the shared files. A prune checks in the
 * opposite order, so one of the two always sees the other. When the files are being removed, the new
 * manifest is removed too, and the run fails.
 */
export async function confirmShared(
  { store, signal }: SnapshotRun,
  manifest: Manifest,
): Promise<void> {
  const { account, snapshot, sameAs } = manifest
  if (sameAs === undefined) return
  if (await hasManifest(store, { accountId: account.id, snapshot: sameAs }, { signal })) return
  await store.remove(fileKey(account.id, snapshot, manifestName), { signal })
  throw new DashkeepError(`Cannot share the files of snapshot ${sameAs}: it is being removed`, {
    hint: 'run the backup again',
  })
}

function notStored(key: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot trust what was stored under ${key}: ${state}`, {
    hint: 'the store accepted the file and returned something else; check it before the next run',
  })
}
