// Tested by test/e2e/restore-git.test.ts

import { join } from 'node:path'
import { type SnapshotFolder, tryReadManifest } from '../../archive/archive.ts'
import { isFromFuture } from '../../archive/future.ts'
import { type Manifest, ManifestError } from '../../archive/manifest.ts'
import type { ReadOptions } from '../../archive/read-objects.ts'
import { snapshotTime } from '../../archive/snapshot-name.ts'
import { DashkeepError } from '../../errors.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { WriteOptions } from '../new-file.ts'
import { readIndex } from '../opened-folder.ts'
import { chooseFrom } from '../restoring.ts'
import { snapshotSource } from '../source.ts'
import { commitSnapshot, type SnapshotCommit } from './commit-snapshot.ts'
import type { GitFolder } from './git-folder.ts'

/** What became of a snapshot. */
export type ReplayStep = { readonly snapshot: string } & (
  | ({ readonly result: 'committed'; readonly takenAt: string; readonly commit: string } & Omit<
      SnapshotCommit,
      'commit'
    >)
  | { readonly result: 'unchanged' }
  | { readonly result: 'suspect'; readonly reasons: readonly string[] }
  | { readonly result: 'damaged'; readonly problem: string }
)

/** An account's snapshots in an archive. */
interface ReplaySource {
  readonly store: ObjectStore
  /** The snapshots to commit, oldest first. */
  readonly folders: readonly SnapshotFolder[]
  /** The newest committed snapshot, if the folder still has its files. */
  readonly before?: Manifest | undefined
  readonly read: ReadOptions
}

interface ReplayOptions extends WriteOptions {
  readonly allowSuspect?: boolean | undefined
}

/**
 * The newest of the committed snapshots of each account, by id. Ignores snapshots from the future, and
 * names that are not those of snapshots: they would be in the way of every later snapshot. Pure.
 */
export function newestCommitted(snapshots: ReadonlySet<string>, now: Date): Map<number, string> {
  const newest = new Map<number, string>()
  for (const trailer of [...snapshots].sort()) {
    const [account = '', snapshot = ''] = trailer.split('/')
    const takenAt = snapshotTime(snapshot)
    if (takenAt && !isFromFuture({ takenAt }, now)) newest.set(Number(account), snapshot)
  }
  return newest
}

/** Throws a `usage` error when the folder holds another account, or the account is in a subfolder. */
export async function refuseOtherAccount(folder: GitFolder, accountId: number): Promise<void> {
  const subfolder = join(folder.path, String(accountId))
  if ((await readIndex(subfolder)) !== undefined) {
    throw new DashkeepError(
      `Cannot commit account ${accountId} to ${folder.path}: its objects are in a subfolder`,
      { kind: 'usage', hint: `give ${subfolder}` },
    )
  }
  const held = (await readIndex(folder.path))?.account
  const trailers = [...folder.snapshots].map((trailer) => Number(trailer.split('/')[0]))
  const other = [...(held ? [held.id] : []), ...trailers].find((id) => id !== accountId)
  if (other === undefined) return
  throw new DashkeepError(
    `Cannot commit account ${accountId} to ${folder.path}: the folder holds account ${other}`,
    { kind: 'usage', hint: 'give each account a folder of its own' },
  )
}

/**
 * Commits snapshots one after another. Skips suspect snapshots, unless they are allowed, and damaged
 * ones. A snapshot whose files equal those of the snapshot before is not read.
 */
export async function* replay(
  folder: GitFolder,
  { store, folders, read, ...given }: ReplaySource,
  { allowSuspect, overwrite }: ReplayOptions,
): AsyncGenerator<ReplayStep> {
  let { before } = given
  for (const { accountId, snapshot } of folders) {
    read.signal?.throwIfAborted()
    const stored = await tryReadManifest(store, accountId, snapshot, read)
    if (stored instanceof ManifestError) {
      yield { snapshot, result: 'damaged', problem: stored.message }
      continue
    }
    const { manifest } = stored
    if (manifest.suspect && !allowSuspect) {
      yield { snapshot, result: 'suspect', reasons: manifest.suspect.reasons }
    } else if (before && haveEqualFiles(before, manifest)) {
      yield { snapshot, result: 'unchanged' }
    } else {
      const step = await commitOne(folder, manifest, { store, read, overwrite })
      if (step.result !== 'damaged') before = manifest
      yield step
    }
  }
}

/** Whether two snapshots are restored to equal files. Compares what their manifests say. */
export function haveEqualFiles(one: Manifest, other: Manifest): boolean {
  return contentOf(one) === contentOf(other)
}

/** Everything that the files of a snapshot depend on. */
function contentOf({ account, exports }: Manifest): string {
  const files = exports.map(({ type, kibanaVersion, file }) => {
    return [type, kibanaVersion, file.content.sha256]
  })
  return JSON.stringify([account.id, account.name, files])
}

async function commitOne(
  folder: GitFolder,
  manifest: Manifest,
  { store, read, overwrite }: WriteOptions & { store: ObjectStore; read: ReadOptions },
): Promise<ReplayStep> {
  const { snapshot, takenAt } = manifest
  try {
    const source = snapshotSource(store, manifest, read)
    const restoring = await chooseFrom(source, manifest, { names: undefined, withNeeds: false })
    const done = await commitSnapshot(folder, { ...restoring, manifest }, { overwrite })
    const { commit, ...others } = done
    if (commit === undefined) return { snapshot, result: 'unchanged' }
    return { snapshot, result: 'committed', takenAt, commit, ...others }
  } catch (error) {
    if (!(error instanceof DashkeepError) || error.kind !== 'unverified') throw error
    return { snapshot, result: 'damaged', problem: error.message }
  }
}
