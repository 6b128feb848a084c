import { totalChanges } from '../archive/changes.ts'
import { adviseOnSuspect } from '../archive/guard.ts'
import { countObjects, countStoredBytes } from '../archive/manifest.ts'
import { hintOf } from '../errors.ts'
import type { AccountBackup } from './back-up.ts'
import { goodSnapshot } from './last-good.ts'
import type { AccountOutcome, GoodSnapshot } from './outcome.ts'

/** The result of an account's backup that a run keeps until its end: numbers, but no names of objects. */
export type AccountResult = Omit<
  AccountOutcome,
  'account' | 'lastGood' | 'badSince' | 'recovered'
> & {
  /** The newest good snapshot after this run; undefined when the run did not find out. */
  readonly lastGood: GoodSnapshot | undefined
  readonly recovered: boolean
}

/** What earlier runs found out about an account. */
export interface AccountHistory {
  readonly lastGood?: GoodSnapshot | undefined
  readonly badSince?: Date | undefined
}

/** Summarizes the backup of an account. */
export function resultOf(backup: AccountBackup): AccountResult {
  const { accountId, durationMs, retries, taken, error } = backup
  const effort = { accountId, durationMs, retries }
  if (error !== undefined) {
    const failure = { result: 'failed', reasons: [error.message], hint: hintOf(error) } as const
    return { ...effort, ...failure, taken: undefined, lastGood: undefined, recovered: false }
  }
  const { manifest, changes, warnings, recovered } = taken
  const { suspect, snapshot } = manifest
  return {
    ...effort,
    result: suspect ? 'suspect' : 'good',
    taken: {
      snapshot,
      objects: countObjects(manifest),
      storedBytes: countStoredBytes(manifest),
      changes: changes && totalChanges(changes),
    },
    reasons: [...(suspect?.reasons ?? []), ...warnings],
    hint: suspect && adviseOnSuspect(manifest.exports),
    lastGood: goodSnapshot(suspect ? suspect.lastGood : snapshot),
    recovered,
  }
}

/** Combines the result of this run with what earlier runs found out. */
export function outcomeOf(
  account: string,
  result: AccountResult,
  { history = {}, startedAt }: { history: AccountHistory | undefined; startedAt: Date },
): AccountOutcome {
  const isGood = result.result === 'good'
  return {
    ...result,
    account,
    lastGood: result.lastGood ?? history.lastGood,
    badSince: history.badSince ?? (isGood ? undefined : startedAt),
    recovered: isGood && (result.recovered || history.badSince !== undefined),
  }
}
