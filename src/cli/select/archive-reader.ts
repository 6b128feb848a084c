import { readManifest, type SnapshotFolder } from '../../archive/archive.ts'
import { splitByTime } from '../../archive/future.ts'
import type { Manifest } from '../../archive/manifest.ts'
import type { ReadOptions } from '../../archive/read-objects.ts'
import { readTimeline, type Timeline } from '../../archive/timeline.ts'
import { openEncryption, scanLimitsOf } from '../../open.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { Context } from '../context.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import type { Terminal } from '../terminal.ts'
import { resolveAccountId } from './choose-account.ts'
import { selectAccountFolders, selectFolder } from './select-snapshots.ts'

/** The snapshots of one account, with what is needed to read their objects. */
export interface ArchiveReader extends AsyncDisposable {
  readonly store: ObjectStore
  /** Every snapshot, oldest first. */
  readonly folders: readonly SnapshotFolder[]
  /** The snapshots that are not from the future, oldest first. */
  readonly past: readonly SnapshotFolder[]
  readonly read: ReadOptions & { readonly signal: AbortSignal }
}

/**
 * Opens the archive for one account: the account with this name or id, or without one the only
 * account of the archive.
 */
export async function openReader(
  terminal: Terminal,
  { config, log }: Context,
  account: string | number | undefined,
): Promise<ArchiveReader> {
  const { env, signal, now: clock, progress } = terminal
  const opener = await openEncryption(config, env)
  const store = await openWatchedArchive(terminal, { config, log })
  await using cleanup = new AsyncDisposableStack()
  cleanup.use(store)
  const now = clock()
  progress.begin('listing', { unit: 'file', counting: 'list' })
  const accountId =
    typeof account === 'number'
      ? account
      : await resolveAccountId(store, config, account, { now, signal })
  const folders = await selectAccountFolders(store, { accountId, signal, now, log })
  const { past } = splitByTime(folders, now)
  cleanup.move()
  const read = { opener, limits: scanLimitsOf(config), signal }
  return { store, folders, past, read, [Symbol.asyncDispose]: store[Symbol.asyncDispose] }
}

/** Reads the manifest of the snapshot that a reference, by default the newest, means. */
export async function readSelected(
  { store, folders, read }: ArchiveReader,
  reference: string | undefined,
  now: Date,
): Promise<Manifest> {
  const { accountId, snapshot } = selectFolder(folders, reference ?? 'latest', now)
  const { manifest } = await readManifest(store, accountId, snapshot, read)
  return manifest
}

/** Reads the manifests of the account and shows the progress. */
export function readWatchedTimeline(
  { progress }: Terminal,
  { store, past, read }: ArchiveReader,
): Promise<Timeline> {
  progress.begin('reading manifests', { unit: 'manifest', total: past.length, counting: 'read' })
  return readTimeline(store, past, read)
}
