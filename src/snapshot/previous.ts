import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'
import {
  dataFileKey,
  fileKey,
  listFolders,
  readManifest,
  type SnapshotFolder,
  type StoredManifest,
} from './archive.ts'
import type { Manifest } from './manifest.ts'
import { timePrefix } from './snapshot-name.ts'

/** How far back the first, cheap listing looks for the previous snapshot. */
const RECENT_DAYS = 35

/** What a new snapshot is measured against. */
export interface Previous {
  /** The newest readable snapshot before the new one; undefined for the first. */
  readonly newest: StoredManifest | undefined
  /** The newest snapshot that was not suspect, as far as it can still be read. */
  readonly lastGood: Manifest | undefined
  /** Whether every file that `newest` describes is in the store with its size. */
  readonly filesPresent: boolean
  /** What was found wrong on the way, for people; the run goes on, but not in silence. */
  readonly warnings: readonly string[]
}

/**
 * Finds what an account's new snapshot follows: one listing and one manifest, as a rule.
 *
 * A manifest that cannot be read is passed over with a warning, and so are snapshots that claim
 * to come from after `takenAt` (a clock was, or is, wrong).
 */
export async function findPrevious(
  store: ObjectStore,
  accountId: number,
  takenAt: Date,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Previous> {
  const warnings: string[] = []
  const folders = await recentFolders(store, accountId, takenAt, options)
  const past = folders.filter((folder) => folder.takenAt <= takenAt)
  if (past.length < folders.length) {
    const newest = folders.at(-1)?.snapshot
    warnings.push(`snapshot ${newest} claims to be from the future: check this machine's clock`)
  }
  for (const folder of past.toReversed()) {
    try {
      const newest = await readManifest(store, accountId, folder.snapshot, options)
      const lastGood = await findLastGood(store, newest.manifest, warnings, options)
      const filesPresent = await hasFiles(store, newest.manifest, folders, options)
      return { newest, lastGood, filesPresent, warnings }
    } catch (error) {
      if (!(error instanceof DashkeepError) || error.transient) throw error
      warnings.push(error.message)
    }
  }
  return { newest: undefined, lastGood: undefined, filesPresent: false, warnings }
}

/** The account's snapshots of the last weeks, or all of them when there are none. */
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
  return recent.some((folder) => folder.takenAt <= takenAt) ? recent : collect({})
}

async function findLastGood(
  store: ObjectStore,
  newest: Manifest,
  warnings: string[],
  options: { signal?: AbortSignal | undefined },
): Promise<Manifest | undefined> {
  if (newest.suspect === undefined) return newest
  const { lastGood } = newest.suspect
  if (lastGood === undefined) return undefined
  try {
    return (await readManifest(store, newest.account.id, lastGood, options)).manifest
  } catch (error) {
    if (!(error instanceof DashkeepError) || error.transient) throw error
    warnings.push(error.message)
    return newest
  }
}

/** Compares sizes with the listing; asks for the folder when the listing does not reach so far. */
async function hasFiles(
  store: ObjectStore,
  manifest: Manifest,
  folders: readonly SnapshotFolder[],
  options: { signal?: AbortSignal | undefined },
): Promise<boolean> {
  const { id } = manifest.account
  const holder = manifest.sameAs ?? manifest.snapshot
  const sizes = new Map<string, number>()
  const listed = folders.find((folder) => folder.snapshot === holder)
  if (listed !== undefined) {
    for (const { key, size } of listed.files.values()) sizes.set(key, size)
  } else {
    for await (const { key, size } of store.list(fileKey(id, holder, ''), options)) {
      sizes.set(key, size)
    }
  }
  return manifest.exports.every(
    ({ file }) => sizes.get(dataFileKey(manifest, file)) === file.stored.bytes,
  )
}
