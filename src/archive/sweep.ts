import type { EmptyFolder, ObjectStore, UnfinishedWrite } from '../store/object-store.ts'
import { isArchiveFolder, isSnapshotFile } from './archive.ts'
import { isPinFolder } from './pins.ts'

/** A write that began longer ago than this is not going on any more. */
const SWEEP_AFTER_MS = 24 * 3600_000

/**
 * Finds what killed writers left behind more than a day ago. Where the store knows what a write was
 * to become, those of other programs in the same bucket are left alone.
 */
export async function findLeftWrites(
  store: ObjectStore,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<UnfinishedWrite[]> {
  const found: UnfinishedWrite[] = []
  for await (const write of store.listUnfinished({ signal })) {
    const isOurs = write.key === undefined || isSnapshotFile(write.key)
    if (isOurs && now.getTime() - write.startedAt.getTime() > SWEEP_AFTER_MS) found.push(write)
  }
  return found
}

/**
 * Finds the folders that a run or a removal left empty more than a day ago, when it was killed before
 * the first file or after the last. Those of other programs below the same root are left alone.
 */
export async function findEmptyFolders(
  store: ObjectStore,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<EmptyFolder[]> {
  const found: EmptyFolder[] = []
  for await (const folder of store.listEmptyFolders?.({ signal }) ?? []) {
    const isOurs = isArchiveFolder(folder.key) || isPinFolder(folder.key)
    if (isOurs && now.getTime() - folder.changedAt.getTime() > SWEEP_AFTER_MS) found.push(folder)
  }
  return found
}
