/** An account that shares its objects with a sub account, in the form of deployed services. */
interface SharingAccount {
  readonly accountId: number
  readonly accountName?: string | undefined
}

/** Settings with the same form in a list and in a replace. */
interface SharedSettings {
  readonly accountName: string
  /** GB per day, possibly fractional; null for flexible accounts, which use the remaining capacity. */
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

/** A sub account in the list. May have unknown members. */
export interface SubAccount extends SharedSettings {
  readonly accountId: number
  /** Ids according to the specification; objects in deployed services. */
  readonly sharingObjectsAccounts: readonly (number | SharingAccount)[]
  readonly [member: string]: unknown
}

/** The settings in a replace. The service may reset a missing setting. */
export interface Settings extends SharedSettings {
  readonly sharingObjectsAccounts: readonly number[]
  /** This and the following members exist only in deployed services. */
  readonly isFlexible?: unknown
  readonly reservedDailyGB?: unknown
  readonly softLimitGB?: unknown
  readonly snapSearchRetentionDays?: unknown
}

/** The body of a create. */
export interface NewSubAccount {
  /** Email of an admin user of the main account. */
  readonly email: string
  readonly accountName: string
  readonly retentionDays: number
  readonly maxDailyGB: number
  readonly sharingObjectsAccounts?: readonly number[]
}

/** The answer to a create. */
export interface CreatedSubAccount {
  readonly accountId: number
  /** Secret token for shipping logs to the new account. */
  readonly accountToken: string
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The part of the service that manages the sub accounts of one main account.
 *
 * Every failure is an error with a hint. Transient failures have been repeated where that is safe.
 */
export interface SubAccountService {
  /** May include the main account. May show a change only seconds later. */
  listSubAccounts(options?: CallOptions): Promise<readonly SubAccount[]>
  /** A request that was sent is never repeated. */
  createSubAccount(account: NewSubAccount, options?: CallOptions): Promise<CreatedSubAccount>
  /** Overwrites every setting of the account. */
  replaceSubAccount(accountId: number, settings: Settings, options?: CallOptions): Promise<void>
  /** Whether the service refused the request, so that nothing has changed. */
  isRefusal(error: unknown): boolean
}
