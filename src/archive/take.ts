import type { ObjectStore } from '../store/object-store.ts'
import { encodeReadable } from './archive.ts'
import { noChanges, type TypeChanges } from './changes.ts'
import { checkClock } from './check-clock.ts'
import { composeManifest, shareFiles } from './compose-manifest.ts'
import { identifyAccount } from './identify-account.ts'
import { judgeExports, type MissingObjects, type Verdict } from './judge.ts'
import type { Manifest } from './manifest.ts'
import { checkOrigin } from './origin.ts'
import { findPrevious, type Previous } from './previous.ts'
import { type PendingExport, receiveExports } from './receive-exports.ts'
import { isUnchanged, prepareSharing, type Sharing } from './sharing.ts'
import { createSnapshotName, snapshotTime } from './snapshot-name.ts'
import type { Account, SavedObjectSource } from './source.ts'
import { commitManifest, confirmShared, storeExports } from './store-snapshot.ts'
import type { SnapshotRun, TakeOptions } from './take-options.ts'

/** A complete snapshot of the archive that has been read back. */
export interface TakenSnapshot {
  readonly manifest: Manifest
  /** By type; undefined for a first snapshot and empty when nothing changed. */
  readonly changes: readonly TypeChanges[] | undefined
  /** Problems of earlier snapshots. The new one is complete nevertheless. */
  readonly warnings: readonly string[]
  /** By type: objects of the last good snapshot that a suspect one lacks, as far as can be read. */
  readonly missing: readonly MissingObjects[]
  /** Whether it is good and the one before it was suspect. */
  readonly recovered: boolean
}

/** Whether the snapshot is suspect or an earlier one has problems. */
export function isDoubtful({ manifest, warnings }: TakenSnapshot): boolean {
  return manifest.suspect !== undefined || warnings.length > 0
}

/**
 * Files are shared only within this time after the run began. `prune` keeps each snapshot that was
 * the newest within the last hour, so the files that a run refers to exist until it is done.
 */
const MAX_SHARING_MS = 30 * 60_000

/**
 * Copies every saved object of one account into a new snapshot.
 *
 * The manifest is written last: a snapshot exists only once its manifest does. A run that dies
 * halfway leaves files for `prune` to remove, never a snapshot that is incomplete. Nothing is stored
 * before every type has been received completely. Each stored file is read back and compared.
 */
export async function takeSnapshot(
  source: SavedObjectSource,
  store: ObjectStore,
  options: TakeOptions,
): Promise<TakenSnapshot> {
  const account = await identifyAccount(source, options)
  const begun = performance.now()
  const previous = await findPrevious(store, account.accountId, options.takenAt, options)
  const { newest } = previous
  const run = beginRun(source, store, account, previous, options)
  await using pending = await receiveExports(run)
  checkClock(source, account, options)
  const { exports } = pending
  // A first snapshot is compared with nothing, and its files are soon read back, which takes memory.
  if (newest === undefined) for (const { content } of exports) content.index.discard()
  // Before anything is stored: a manifest that no reader accepts would leave files behind.
  encodeReadable(composeManifest(run, exports, previous, { changes: [], reasons: [] }))
  const sharing = await trySharing(run, exports, previous)
  const provenAt = performance.now() - begun < MAX_SHARING_MS ? sharing.provenAt : undefined
  const stored = provenAt
    ? { changes: exports.map(({ entry }) => noChanges(entry.type)), warnings: [] }
    : await storeExports(run, exports, newest)
  const verdict = await judge(run, exports, previous, stored.changes)
  const composed = composeManifest(run, exports, previous, { ...stored, ...verdict })
  const manifest = newest && provenAt ? shareFiles(composed, newest.manifest, provenAt) : composed
  await commitManifest(run, manifest)
  await confirmShared(run, manifest)
  return {
    manifest,
    changes: newest && stored.changes,
    warnings: [...previous.warnings, ...sharing.warnings, ...stored.warnings, ...verdict.warnings],
    missing: verdict.missing,
    recovered: manifest.suspect === undefined && newest?.manifest.suspect !== undefined,
  }
}

/** Names the new snapshot. Throws when the previous one is of another service. */
function beginRun(
  source: SavedObjectSource,
  store: ObjectStore,
  account: Account,
  { newest }: Previous,
  options: TakeOptions,
): SnapshotRun {
  const origin = { ...options, accountId: account.accountId, address: source.address }
  checkOrigin(newest?.manifest, origin, options)
  const last = newest?.manifest.snapshot
  const takenAt = notBefore(options.takenAt, last)
  return {
    ...options,
    takenAt,
    source,
    store,
    account,
    snapshot: createSnapshotName(takenAt, last),
  }
}

/**
 * The time of a new snapshot, which is never before the second of the newest one. When the clocks of
 * two machines differ by less than the tolerance, the later run still gets the later name.
 */
function notBefore(takenAt: Date, newest: string | undefined): Date {
  const last = newest === undefined ? undefined : snapshotTime(newest)
  return last !== undefined && last > takenAt ? last : takenAt
}

/** Prepares the previous files for sharing when the new exports hold the same objects. */
async function trySharing(
  run: SnapshotRun,
  exports: readonly PendingExport[],
  { newest, filesSound }: Previous,
): Promise<Sharing> {
  const entries = exports.map(({ entry }) => entry)
  const unchanged = newest !== undefined && filesSound && isUnchanged(entries, newest.manifest)
  if (run.full || !unchanged) return { warnings: [] }
  return prepareSharing(run.store, newest.manifest, run)
}

/** Judges the snapshot against the last good one, which is not always the newest. */
function judge(
  run: SnapshotRun,
  exports: readonly PendingExport[],
  { newest, lastGood, doubt }: Previous,
  changes: readonly TypeChanges[],
): Promise<Verdict> {
  const isNewest = newest !== undefined && newest.manifest.snapshot === lastGood?.snapshot
  const comparison = { lastGood, doubt, changes: isNewest ? changes : undefined }
  return judgeExports(run.store, exports, comparison, { ...run, limits: run.scanLimits })
}
