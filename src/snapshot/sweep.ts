import type { ObjectStore, UnfinishedWrite } from '../store/object-store.ts'
import { isSnapshotFile } from './archive.ts'

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
