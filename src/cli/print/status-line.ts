import type { AccountState } from '../../archive/account-state.ts'
import type { AccountStatus } from '../../archive/status.ts'
import type { ProofGap, ProofJudgement } from '../../proofs/judge.ts'

/** One account in the output of `status`. */
export interface Line {
  readonly state: AccountState
  readonly accountId: number | undefined
  /** The name that the service uses, or the configured name when the archive has no snapshot. */
  readonly name: string | undefined
  readonly configuredAs: string | undefined
  readonly status: AccountStatus | undefined
  /** Undefined without `--max-proof-age`, and for an account without snapshots. */
  readonly proofs?: LineProofs | undefined
}

/** What the records of an account prove. */
export interface LineProofs {
  readonly judgement: ProofJudgement
  /** Undefined when the account is proven. */
  readonly gap: ProofGap | undefined
}

/** Why an account without a configured id is missing. */
export const unknownOwner =
  'no newest snapshot of an account has this configured name; run a backup, or set the accountId'
