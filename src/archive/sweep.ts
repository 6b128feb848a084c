import type { EmptyFolder, ObjectStore, UnfinishedWrite } from '../store/object-store.ts'
import { isArchiveFolder, isSnapshotFile } from './archive.ts'
import { isSideFolder } from './side-folders.ts'

/** Age after which no run can still be writing. Younger remains may belong to a run. */
const SWEEP_AFTER_MS = 24 * 3600_000

/** Whether a run that wrote at `time` has certainly ended. */
export function isOld(time: Date, now: Date): boolean {
  return now.getTime() - time.getTime() > SWEEP_AFTER_MS
}

/**
 * Finds the unfinished writes that killed processes left more than a day ago. Skips the writes of
 * other programs in the same bucket, where the store knows the key of a write.
 */
export async function findLeftWrites(
  store: ObjectStore,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<UnfinishedWrite[]> {
  const found: UnfinishedWrite[] = []
  for await (const write of store.listUnfinished({ signal })) {
    const isOurs = write.key === undefined || isSnapshotFile(write.key)
    if (isOurs && isOld(write.startedAt, now)) found.push(write)
  }
  return found
}

/**
 * Finds empty folders that are older than a day. A run that is killed before its first file leaves
 * one, and so does a removal that is killed after the last. Skips the folders of other programs.
 */
export async function findEmptyFolders(
  store: ObjectStore,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<EmptyFolder[]> {
  const found: EmptyFolder[] = []
  for await (const folder of store.listEmptyFolders?.({ signal }) ?? []) {
    const isOurs = isArchiveFolder(folder.key) || isSideFolder(folder.key)
    if (isOurs && isOld(folder.changedAt, now)) found.push(folder)
  }
  return found
}
