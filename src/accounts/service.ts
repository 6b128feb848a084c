/** An account that shares its objects with a sub account, as lists of deployed services name it. */
export interface SharingAccount {
  readonly accountId: number
  readonly accountName?: string | undefined
}

/** Settings that a list shows as a replace takes them. */
interface SharedSettings {
  readonly accountName: string
  /** GB per day, possibly fractional; null for accounts that take what is left. */
  readonly maxDailyGB: number | null
  readonly retentionDays: number
  readonly searchable: boolean
  readonly accessible: boolean
  readonly docSizeSetting: boolean
  readonly utilizationSettings: {
    readonly frequencyMinutes: number | null
    readonly utilizationEnabled: boolean
  }
}

/** A sub account as the list shows it, members unknown here included. */
export interface SubAccount extends SharedSettings {
  readonly accountId: number
  /** Ids by the specification's form of the service, objects by the deployed one. */
  readonly sharingObjectsAccounts: readonly (number | SharingAccount)[]
  readonly [member: string]: unknown
}

/** Everything that a replace sets. What is left out of it may be reset by the service. */
export interface Settings extends SharedSettings {
  readonly sharingObjectsAccounts: readonly number[]
  /** This and below: writable in deployed services beyond the specification. */
  readonly isFlexible?: unknown
  readonly reservedDailyGB?: unknown
  readonly softLimitGB?: unknown
  readonly snapSearchRetentionDays?: unknown
}

/** What a create asks for. */
export interface NewSubAccount {
  /** Of a user who is an admin of the main account. */
  readonly email: string
  readonly accountName: string
  readonly retentionDays: number
  readonly maxDailyGB: number
  readonly sharingObjectsAccounts?: readonly number[]
}

/** What a create answers. */
export interface CreatedSubAccount {
  readonly accountId: number
  /** Secret: ships logs to the new account. */
  readonly accountToken: string
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The sub accounts of one main account: the only thing this part knows of the service.
 *
 * Every failure is an error with a hint; what may be repeated has been.
 */
export interface SubAccountService {
  /** May hold the main account too, and may show a write only seconds later. */
  listSubAccounts(options?: CallOptions): Promise<readonly SubAccount[]>
  /** Never repeated once anything was sent. */
  createSubAccount(account: NewSubAccount, options?: CallOptions): Promise<CreatedSubAccount>
  /** Overwrites every setting of the account. */
  replaceSubAccount(accountId: number, settings: Settings, options?: CallOptions): Promise<void>
  /** Whether the service refused, so that the request that failed like this changed nothing. */
  isRefusal(error: unknown): boolean
}
