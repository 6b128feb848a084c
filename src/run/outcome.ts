/** A good snapshot, by name and time. */
export interface GoodSnapshot {
  readonly snapshot: string
  readonly takenAt: Date
}

/** How a run ended for one account: what metrics and notifications tell, and nothing secret. */
export interface AccountOutcome {
  /** The account's name in the configuration. */
  readonly account: string
  readonly accountId: number | undefined
  readonly result: 'good' | 'suspect' | 'failed'
  readonly durationMs: number
  /** Requests that were repeated and exports that were begun again. */
  readonly retries: number
  /** The snapshot that was taken; undefined when the run failed. */
  readonly taken:
    | {
        readonly snapshot: string
        readonly objects: number
        /** Bytes that this run added to the archive, manifests aside. */
        readonly storedBytes: number
        /** Against the snapshot before; undefined for the first. */
        readonly changes: Record<'added' | 'removed' | 'changed', number> | undefined
      }
    | undefined
  /** Why it failed, is suspect, or needs a look. */
  readonly reasons: readonly string[]
  readonly hint: string | undefined
  /** The newest good snapshot there is now, as far as that is known. */
  readonly lastGood: GoodSnapshot | undefined
  /** When the first of the runs in a row was that were not good: this one's, or before this one. */
  readonly badSince: Date | undefined
  /** Whether it is good after it was not. */
  readonly recovered: boolean
}

/** How a run over accounts ended. */
export interface RunOutcome {
  readonly run: string
  readonly startedAt: Date
  readonly endedAt: Date
  /** What a process that did this run alone would exit with. */
  readonly exitCode: number
  readonly accounts: readonly AccountOutcome[]
  /** What ended the run as a whole, or kept it from beginning. */
  readonly error: { readonly message: string; readonly hint: string | undefined } | undefined
}

/** Whether there is nothing about it that somebody should look at. */
export function isClean({ result, reasons }: AccountOutcome): boolean {
  return result === 'good' && reasons.length === 0
}
