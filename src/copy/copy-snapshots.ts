import { pMapIterable } from 'p-map'
import {
  dataFileKey,
  fileKey,
  hasManifest,
  manifestName,
  type SnapshotFolder,
  tryReadManifest,
} from '../archive/archive.ts'
import { findListedDefect } from '../archive/listed-files.ts'
import { holderOf, type Manifest, ManifestError } from '../archive/manifest.ts'
import { protectFiles } from '../archive/sharing.ts'
import { proveStoredBytes } from '../datafile/data-file.ts'
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
 */
export async function* copySnapshots(
  stores: Direction,
  plan: AccountCopyPlan,
  options: CopyFileOptions,
): AsyncGenerator<CopiedSnapshot> {
  const sharers = plan.missing.filter(({ folder }) => holdsManifestAlone(folder))
  const holders = plan.missing.filter(({ folder }) => !holdsManifestAlone(folder))
  const complete = new Set<string>()
  for (const group of [holders, sharers]) {
    const copy = (one: MissingSnapshot) => copySnapshot(stores, plan, one, { ...options, complete })
    for await (const result of pMapIterable(group, copy, { concurrency: SNAPSHOTS_AT_ONCE })) {
      if (result === undefined) continue
      if (result.defects.length === 0) complete.add(result.snapshot)
      yield result
    }
  }
}

function holdsManifestAlone({ files }: SnapshotFolder): boolean {
  return files.size === 1 && files.has(manifestName)
}

interface SnapshotCopyOptions extends CopyFileOptions {
  /** Snapshots that this run has copied completely. */
  readonly complete: ReadonlySet<string>
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

async function tryCopy(
  stores: Direction,
  plan: AccountCopyPlan,
  { folder, copied }: MissingSnapshot,
  options: SnapshotCopyOptions,
): Promise<Pick<CopiedSnapshot, 'files' | 'bytes' | 'defects'>> {
  const { accountId, snapshot } = folder
  const written = { files: 0, bytes: 0 }
  const key = fileKey(accountId, snapshot, manifestName)
  const read = await tryReadManifest(stores.source, accountId, snapshot, options)
  if (read instanceof ManifestError) {
    return { ...written, defects: [{ side: 'source', key, problem: read.message }] }
  }
  const { manifest, bytes } = read
  const defects = manifest.sameAs
    ? await checkHolder(stores, plan, manifest, options)
    : await copyFiles(stores, manifest, { ...options, copied, written })
  if (defects.length > 0) return { ...written, defects }
  if (copied?.files.has(manifestName)) {
    const defect = await compareManifest(stores.target, key, bytes, options)
    return { ...written, defects: defect ? [defect] : [] }
  }
  const defect = await copyManifest(stores, read, options)
  if (defect) return { ...written, defects: [defect] }
  return { files: written.files + 1, bytes: written.bytes + bytes.length, defects }
}

/** Copies the data files that the copy does not have, and compares those that it has. */
async function copyFiles(
  stores: Direction,
  manifest: Manifest,
  {
    copied,
    written,
    ...options
  }: CopyFileOptions & {
    copied: SnapshotFolder | undefined
    written: { files: number; bytes: number }
  },
): Promise<FileDefect[]> {
  const defects: FileDefect[] = []
  for (const entry of manifest.exports) {
    const { file } = entry
    const key = dataFileKey(manifest, file)
    if (copied?.files.has(file.name)) {
      const found = await proveStoredBytes(stores.target, key, file, options)
      if (found) defects.push({ side: 'target', key, problem: found.detail })
      continue
    }
    const defect = await copyExportFile(stores, manifest, entry, options)
    if (defect) defects.push(defect)
    else {
      written.files += 1
      written.bytes += file.stored.bytes
    }
  }
  return defects
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
