import type { AccountState } from '../../archive/account-state.ts'
import type { AccountStatus } from '../../archive/status.ts'

/** One account as `status` tells people and programs of it. */
export interface Line {
  readonly state: AccountState
  readonly accountId: number | undefined
  /** The service's name of it, or the configured one when the archive holds nothing of it. */
  readonly name: string | undefined
  readonly configuredAs: string | undefined
  readonly status: AccountStatus | undefined
}

/** Why an account without a configured id is missing. */
export const unknownOwner =
  'the newest snapshot of no account was taken under this name; run a backup, or set its accountId'
