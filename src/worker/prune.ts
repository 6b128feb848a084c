import { applyPrune, planPrune } from '../archive/prune.ts'
import type { RetentionPolicy } from '../archive/retention.ts'
import { findEmptyFolders, findLeftWrites } from '../archive/sweep.ts'
import type { Logger } from '../log.ts'
import { findOldProofs } from '../proofs/old.ts'
import type { ObjectStore } from '../store/object-store.ts'

/**
 * Prunes one account by its retention. Returns why snapshots could not be removed. Locked and
 * referenced snapshots stay, without a message, until a later run.
 */
export async function pruneAccount(
  store: ObjectStore,
  accountId: number,
  policy: RetentionPolicy,
  { now, signal, log }: { now: Date; signal: AbortSignal; log: Logger },
): Promise<string[]> {
  const problems: string[] = []
  let removed = 0
  try {
    for await (const plan of planPrune(store, policy, { now, accountId, signal })) {
      if (plan.refusal !== undefined) log.info({ reason: plan.refusal }, 'nothing pruned')
      for await (const { error, keptUntil } of applyPrune(store, plan, { now, signal })) {
        if (error !== undefined) problems.push(error.message)
        else if (keptUntil === undefined) removed += 1
      }
    }
  } catch (error) {
    problems.push((error as Error).message)
  }
  if (removed > 0) log.info({ removed }, 'pruned')
  for (const reason of problems) log.warn({ reason }, 'not pruned')
  return problems.map((problem) => `not pruned: ${problem}`)
}

/**
 * Removes unfinished writes that are older than a day, and records of verifications and drills that
 * are no longer needed. Never throws: a failure is logged.
 */
export async function sweepArchive(
  store: ObjectStore,
  { now, signal, log }: { now: Date; signal: AbortSignal; log: Logger },
): Promise<void> {
  try {
    for (const find of [findLeftWrites, findEmptyFolders]) {
      for (const left of await find(store, { now, signal })) await left.remove({ signal })
    }
    for (const { key } of await findOldProofs(store, { now, signal }))
      await store.remove(key, { signal })
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'unfinished writes and old records not swept')
  }
}
