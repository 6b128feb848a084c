import { isFromFuture } from '../archive/future.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type ProofKey, proofKinds } from './proof.ts'
import { listProofs } from './read.ts'

/** Records stay so long: an auditor asks about a year. */
const KEPT_MS = 400 * 24 * 3600_000

/**
 * Finds the records that are no longer needed, from one listing: those that are 400 days older than the
 * newest record of their account. The newest of each kind always stays. Ages count from that record, so
 * that a wrong clock of this machine cannot make all records old.
 */
export async function findOldProofs(
  store: ObjectStore,
  options: { now: Date; accountId?: number | undefined; signal?: AbortSignal | undefined },
): Promise<ProofKey[]> {
  const keys = await Array.fromAsync(listProofs(store, options))
  const accounts = Map.groupBy(keys, ({ accountId }) => accountId)
  return [...accounts.values()].flatMap((own) => selectOld(own, options.now))
}

function selectOld(keys: readonly ProofKey[], now: Date): ProofKey[] {
  const past = keys.filter(({ startedAt }) => !isFromFuture({ takenAt: startedAt }, now))
  const newest = past.at(-1)
  if (newest === undefined) return []
  const kept = proofKinds.map((kind) => past.findLast((key) => key.kind === kind))
  return past.filter(
    (key) => newest.startedAt.getTime() - key.startedAt.getTime() > KEPT_MS && !kept.includes(key),
  )
}
