import type { AccountState } from '../../archive/account-state.ts'
import type { AccountStatus } from '../../archive/status.ts'

/** One account in the output of `status`. */
export interface Line {
  readonly state: AccountState
  readonly accountId: number | undefined
  /** The name that the service uses, or the configured name when the archive has no snapshot. */
  readonly name: string | undefined
  readonly configuredAs: string | undefined
  readonly status: AccountStatus | undefined
}

/** Why an account without a configured id is missing. */
export const unknownOwner =
  'no newest snapshot was taken under this name; run a backup, or set its accountId'
