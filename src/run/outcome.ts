/** A good snapshot, by name and time. */
export interface GoodSnapshot {
  readonly snapshot: string
  readonly takenAt: Date
}

/** Result of a run for one account, for metrics and notifications. Contains no secret. */
export interface AccountOutcome {
  /** The account's name in the configuration. */
  readonly account: string
  readonly accountId: number | undefined
  readonly result: 'good' | 'suspect' | 'failed'
  readonly durationMs: number
  /** Repeated requests and restarted exports. */
  readonly retries: number
  /** The snapshot that was taken; undefined when the run failed. */
  readonly taken:
    | {
        readonly snapshot: string
        readonly objects: number
        /** Bytes that this run added to the archive, without manifests. */
        readonly storedBytes: number
        /** Changes since the previous snapshot; undefined for the first. */
        readonly changes: Record<'added' | 'removed' | 'changed', number> | undefined
      }
    | undefined
  /** Why it failed or is suspect, and warnings. */
  readonly reasons: readonly string[]
  readonly hint: string | undefined
  /** The newest good snapshot; undefined when unknown. */
  readonly lastGood: GoodSnapshot | undefined
  /** Start of the first bad run in the latest series; undefined when this and the previous are good. */
  readonly badSince: Date | undefined
  /** Whether this run is good and the previous one was not. */
  readonly recovered: boolean
}

/** Result of a run over accounts. */
export interface RunOutcome {
  readonly run: string
  readonly startedAt: Date
  readonly endedAt: Date
  /** Exit code of this run as a process of its own. */
  readonly exitCode: number
  readonly accounts: readonly AccountOutcome[]
  /** Why the run failed as a whole; undefined when it did not. */
  readonly error: { readonly message: string; readonly hint: string | undefined } | undefined
}

/** Number of accounts with each result. */
export function countResults(
  accounts: readonly AccountOutcome[],
): Record<AccountOutcome['result'], number> {
  const counts = { good: 0, suspect: 0, failed: 0 }
  for (const { result } of accounts) counts[result] += 1
  return counts
}

/** Whether an outcome is good and has no warnings. */
export function isClean({ result, reasons }: AccountOutcome): boolean {
  return result === 'good' && reasons.length === 0
}
