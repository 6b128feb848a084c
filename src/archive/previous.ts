import type { ObjectStore } from '../store/object-store.ts'
import {
  fileKey,
  listFolders,
  type SnapshotFolder,
  type StoredManifest,
  tryReadManifest,
} from './archive.ts'
import { isFromFuture, splitByTime, warningOfFuture } from './future.ts'
import { findListedDefect } from './listed-files.ts'
import { holderOf, type Manifest, ManifestError } from './manifest.ts'
import { timePrefix } from './snapshot-name.ts'

/** Days that the first listing covers. A full listing of an account costs more. */
const RECENT_DAYS = 35

/** The earlier snapshots with which a new one is compared. */
export interface Previous {
  /** The newest readable snapshot before the new one; undefined for the first. */
  readonly newest: StoredManifest | undefined
  /** The newest snapshot that is not suspect. */
  readonly lastGood: Manifest | undefined
  /** Why there is no last good snapshot, although there are earlier snapshots. */
  readonly doubt: string | undefined
  /**
   * Whether the store has every file of `newest` in its full size, and `verify` has found no damage.
   */
  readonly filesSound: boolean
  /** Problems of earlier snapshots. The run continues and reports them. */
  readonly warnings: readonly string[]
}

/**
 * Finds the previous snapshots of an account. Normally needs one listing and one manifest.
 *
 * Skips manifests that cannot be read and snapshots from the future, with a warning. A snapshot is
 * from the future if it is later than `takenAt`.
 */
export async function findPrevious(
  store: ObjectStore,
  accountId: number,
  takenAt: Date,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Previous> {
  const warnings: string[] = []
  const folders = await recentFolders(store, accountId, takenAt, options)
  const { past, future } = splitByTime(folders, takenAt)
  const names = future.map(({ snapshot }) => snapshot)
  const warning = warningOfFuture(accountId, names)
  if (warning !== undefined) warnings.push(warning)
  for (const folder of past.toReversed()) {
    const newest = await tryReadManifest(store, accountId, folder.snapshot, options)
    if (newest instanceof ManifestError) {
      warnings.push(newest.message)
      continue
    }
    const { lastGood, doubt } = await findLastGood(store, newest.manifest, options)
    const defect = await findDefect(store, newest.manifest, folders, options)
    if (defect !== undefined) warnings.push(`files of snapshot ${folder.snapshot} ${defect}`)
    return { newest, lastGood, doubt, filesSound: defect === undefined, warnings }
  }
  const doubt = past.length > 0 ? 'no earlier snapshot can be read to compare with' : undefined
  return { newest: undefined, lastGood: undefined, doubt, filesSound: false, warnings }
}

/** The account's snapshots of the last 35 days, or all of them when these are empty. */
async function recentFolders(
  store: ObjectStore,
  accountId: number,
  takenAt: Date,
  options: { signal?: AbortSignal | undefined },
): Promise<SnapshotFolder[]> {
  const since = new Date(takenAt.getTime() - RECENT_DAYS * 24 * 3600_000)
  const startAfter = fileKey(accountId, timePrefix(since), '')
  const collect = async (bounds: { startAfter?: string }) => {
    const found = await Array.fromAsync(listFolders(store, { accountId, ...bounds, ...options }))
    return found.filter((folder) => folder.complete)
  }
  const recent = await collect({ startAfter })
  return recent.some((folder) => !isFromFuture(folder, takenAt)) ? recent : collect({})
}

async function findLastGood(
  store: ObjectStore,
  newest: Manifest,
  options: { signal?: AbortSignal | undefined },
): Promise<{ lastGood: Manifest | undefined; doubt: string | undefined }> {
  const none = { lastGood: undefined, doubt: undefined }
  if (newest.suspect === undefined) return { ...none, lastGood: newest }
  const { lastGood, doubt, reasons } = newest.suspect
  if (lastGood === undefined)
    return { ...none, doubt: saysDoubt(newest) ? doubt : reasons.join('; ') }
  const stored = await tryReadManifest(store, newest.account.id, lastGood, options)
  if (!(stored instanceof ManifestError)) return { ...none, lastGood: stored.manifest }
  return { ...none, doubt: `the last good snapshot ${lastGood} cannot be read to compare with` }
}

/**
 * Whether a suspect manifest records if there was a good snapshot before it. Older manifests do not
 * record this. A suspect first snapshot does not make the next one suspect.
 */
function saysDoubt({ exports }: Manifest): boolean {
  return exports.every(({ sound }) => sound !== undefined)
}

/** Says what is wrong with a snapshot's files. Lists the folder if `folders` does not contain it. */
async function findDefect(
  store: ObjectStore,
  manifest: Manifest,
  folders: readonly SnapshotFolder[],
  options: { signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  const holder = holderOf(manifest)
  const listed = folders.find((folder) => folder.snapshot === holder)
  if (listed !== undefined) return findListedDefect(manifest, listed.files)
  const prefix = fileKey(manifest.account.id, holder, '')
  const files = new Map<string, { size: number }>()
  for await (const { key, size } of store.list(prefix, options)) {
    files.set(key.slice(prefix.length), { size })
  }
  return findListedDefect(manifest, files)
}
