import { snapshotTime } from '../archive/snapshot-name.ts'
import { readStatus } from '../archive/status.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { GoodSnapshot } from './outcome.ts'

/** Finds the newest good, undamaged snapshot of an account in the archive. */
export async function findLastGood(
  store: ObjectStore,
  accountId: number,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<GoodSnapshot | undefined> {
  for await (const { newestSound } of readStatus(store, { accountId, ...options })) {
    return goodSnapshot(newestSound?.snapshot)
  }
  return undefined
}

/** A good snapshot by its name; undefined without one. */
export function goodSnapshot(snapshot: string | undefined): GoodSnapshot | undefined {
  const takenAt = snapshot === undefined ? undefined : snapshotTime(snapshot)
  return snapshot && takenAt ? { snapshot, takenAt } : undefined
}
