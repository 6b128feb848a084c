import { pMapIterable } from 'p-map'
import {
  dataFileKey,
  fileKey,
  hasManifest,
  isArchiveFile,
  manifestName,
  type SnapshotFolder,
  type StoredManifest,
  tryReadManifest,
} from '../archive/archive.ts'
import { findListedDefect, findUndescribed } from '../archive/listed-files.ts'
import { holderOf, type Manifest, ManifestError } from '../archive/manifest.ts'
import { protectFiles } from '../archive/sharing.ts'
import { type DataFile, proveStoredBytes } from '../datafile/data-file.ts'
import {
  type CopyFileOptions,
  compareManifest,
  copyExportFile,
  copyManifest,
  type Direction,
  type FileDefect,
} from './copy-files.ts'
import type { AccountCopyPlan, MissingSnapshot } from './plan-copy.ts'

/** What copying one snapshot came to. */
export interface CopiedSnapshot {
  readonly accountId: number
  readonly snapshot: string
  /** Files written, the manifest included. */
  readonly files: number
  /** Bytes written. */
  readonly bytes: number
  /** Why the copy does not have all of it; empty when it has. */
  readonly defects: readonly FileDefect[]
}

/** Snapshots copied at once, each one file after the other. */
const SNAPSHOTS_AT_ONCE = 4

/**
 * Copies what a plan found missing: data files first, the manifest last, byte for byte. Each file is
 * compared with its manifest while it is read, and read back from the copy. A file that is already
 * in the copy is never written again: it is read and compared. Snapshots that share files come after
 * those that hold them.
 *
 * Damaged files, and snapshots that need them, are not copied and are reported. A snapshot that a
 * prune removes meanwhile is passed over. Throws when a store cannot answer; the next run continues
 * where this one ended.
 *
 * A plan in order is copied one snapshot after the other, oldest first. It ends at a snapshot that the
 * copy does not keep, because a newer one in the copy would hide that it is missing.
 */
export async function* copySnapshots(
  stores: Direction,
  plan: AccountCopyPlan,
  options: CopyFileOptions,
): AsyncGenerator<CopiedSnapshot> {
  const complete = new Set<string>()
  const copy = (one: MissingSnapshot) => copySnapshot(stores, plan, one, { ...options, complete })
  const concurrency = plan.inOrder ? 1 : SNAPSHOTS_AT_ONCE
  for (const group of plan.inOrder ? [plan.missing] : groupByNeed(plan.missing)) {
    for await (const result of pMapIterable(group, copy, { concurrency })) {
      if (result === undefined) continue
      yield result
      if (plan.inOrder && isNotKept(result)) return
    }
  }
}

/** Snapshots with files of their own, then those that share files. */
function groupByNeed(missing: readonly MissingSnapshot[]): MissingSnapshot[][] {
  const isSharer = ({ folder: { files } }: MissingSnapshot) =>
    files.size === 1 && files.has(manifestName)
  return [missing.filter((one) => !isSharer(one)), missing.filter(isSharer)]
}

/** Whether the copy has other bytes in the snapshot's folder than it was given. */
function isNotKept({ accountId, snapshot, defects }: CopiedSnapshot): boolean {
  const folder = fileKey(accountId, snapshot, '')
  return defects.some(({ side, key }) => side === 'target' && key.startsWith(folder))
}

interface SnapshotCopyOptions extends CopyFileOptions {
  /** Snapshots that this run has copied completely. */
  readonly complete: Set<string>
}

/** Returns undefined when the snapshot was pruned meanwhile. */
async function copySnapshot(
  stores: Direction,
  plan: AccountCopyPlan,
  one: MissingSnapshot,
  options: SnapshotCopyOptions,
): Promise<CopiedSnapshot | undefined> {
  const { accountId } = plan
  const { snapshot } = one.folder
  const result = await tryCopy(stores, plan, one, options)
  if (result.defects.length > 0 && !(await hasManifest(stores.source, one.folder, options))) {
    return undefined
  }
  return { accountId, snapshot, ...result }
}

/** What was written, and why the copy does not have all of it. */
type Written = Pick<CopiedSnapshot, 'files' | 'bytes' | 'defects'>

async function tryCopy(
  stores: Direction,
  plan: AccountCopyPlan,
  one: MissingSnapshot,
  options: SnapshotCopyOptions,
): Promise<Written> {
  const { accountId, snapshot } = one.folder
  const key = fileKey(accountId, snapshot, manifestName)
  const read = await tryReadManifest(stores.source, accountId, snapshot, options)
  if (read instanceof ManifestError) {
    return { files: 0, bytes: 0, defects: [{ side: 'source', key, problem: read.message }] }
  }
  const { manifest } = read
  const lost = findLost(one.folder, manifest)
  if (lost.length > 0) return { files: 0, bytes: 0, defects: lost }
  const files = manifest.sameAs
    ? { files: 0, bytes: 0, defects: await checkHolder(stores, plan, manifest, options) }
    : await copyFiles(stores, manifest, { ...options, copied: one.copied })
  if (files.defects.length > 0) return files
  const written = await settleManifest(stores, read, { ...options, copied: one.copied })
  if (written.defects.length === 0) options.complete.add(snapshot)
  return {
    files: files.files + written.files,
    bytes: files.bytes + written.bytes,
    defects: [...written.defects, ...findStray(one, manifest)],
  }
}

/** Data files that the listing of the archive shows to be missing or cut short. */
function findLost(
  { accountId, snapshot, files }: SnapshotFolder,
  manifest: Manifest,
): FileDefect[] {
  if (manifest.sameAs !== undefined) return []
  return manifest.exports.flatMap(({ file: { name, stored } }) => {
    const size = files.get(name)?.size
    if (size === stored.bytes) return []
    const problem =
      size === undefined ? 'it is not there' : `it has ${size} bytes instead of ${stored.bytes}`
    return [{ side: 'source', key: fileKey(accountId, snapshot, name), problem } as const]
  })
}

/** Files named like data files that the manifest does not describe. They make the listings differ. */
function findStray({ folder, copied }: MissingSnapshot, manifest: Manifest): FileDefect[] {
  const { accountId, snapshot } = folder
  const sides = [
    { side: 'source', files: folder.files },
    { side: 'target', files: copied?.files ?? new Map() },
  ] as const
  return sides.flatMap(({ side, files }) =>
    findUndescribed({ files }, manifest)
      .filter(isArchiveFile)
      .map((name) => {
        const problem = 'no manifest describes this file'
        return { side, key: fileKey(accountId, snapshot, name), problem }
      }),
  )
}

interface CopiedFolder {
  /** The folder of the snapshot in the copy; undefined when the copy has nothing of it. */
  readonly copied: SnapshotFolder | undefined
}

/** Copies the data files that the copy does not have, and compares those that it has. */
async function copyFiles(
  stores: Direction,
  manifest: Manifest,
  { copied, ...options }: CopyFileOptions & CopiedFolder,
): Promise<Written> {
  const defects: FileDefect[] = []
  let [files, bytes] = [0, 0]
  for (const entry of manifest.exports) {
    const { file } = entry
    if (copied?.files.has(file.name)) {
      const defect = await proveCopiedFile(stores, dataFileKey(manifest, file), file, options)
      if (defect) defects.push(defect)
      continue
    }
    const defect = await copyExportFile(stores, manifest, entry, options)
    if (defect) defects.push(defect)
    else {
      files += 1
      bytes += file.stored.bytes
    }
  }
  return { files, bytes, defects }
}

/** Compares a file that an earlier run copied, and makes its lock last as long as that of a new one. */
async function proveCopiedFile(
  { target }: Direction,
  key: string,
  file: DataFile,
  { now, signal }: CopyFileOptions,
): Promise<FileDefect | undefined> {
  const found = await proveStoredBytes(target, key, file, { signal })
  if (found) return { side: 'target', key, problem: found.detail }
  const isLocked = (await target.protect?.(key, { lockFrom: now, signal })) ?? true
  return isLocked ? undefined : { side: 'target', key, problem: 'its lock cannot be extended' }
}

/** Copies the manifest, or compares it when the copy has one. */
async function settleManifest(
  stores: Direction,
  read: StoredManifest,
  { copied, ...options }: CopyFileOptions & CopiedFolder,
): Promise<Written> {
  const { account, snapshot } = read.manifest
  const key = fileKey(account.id, snapshot, manifestName)
  const isThere = copied?.files.has(manifestName) ?? false
  const defect = isThere
    ? await compareManifest(stores.target, key, read.bytes, options)
    : await copyManifest(stores, read, options)
  if (defect) return { files: 0, bytes: 0, defects: [defect] }
  return { files: isThere ? 0 : 1, bytes: isThere ? 0 : read.bytes.length, defects: [] }
}

/**
 * Checks that the copy has the snapshot whose files another one shares, and makes its locks last as
 * long as that of the new manifest.
 */
async function checkHolder(
  { target }: Direction,
  { accountId, copied }: AccountCopyPlan,
  manifest: Manifest,
  { complete, now, signal }: SnapshotCopyOptions,
): Promise<FileDefect[]> {
  const holder = holderOf(manifest)
  const key = fileKey(accountId, holder, manifestName)
  const defect = complete.has(holder)
    ? undefined
    : findListedDefect(manifest, copied.get(holder)?.files)
  if (defect) return [{ side: 'target', key, problem: `its files, which are shared, ${defect}` }]
  if (await protectFiles(target, manifest, { lockFrom: now, signal })) return []
  return [{ side: 'target', key, problem: 'its lock cannot be extended' }]
}
