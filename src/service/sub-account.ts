/** An account that a sub account shares its saved objects with, as the list names it. */
export interface SharingAccount {
  readonly accountId: number
  readonly accountName?: string | undefined
}

/** Whether and how often the account's utilization is measured. */
export interface UtilizationSettings {
  /** Minutes between two measurements; null when utilization is off. */
  readonly frequencyMinutes: number | null
  readonly utilizationEnabled: boolean
}

/**
 * Writable members of deployed services that the specification does not have. The list returns those
 * of the account. A replace must send them back unchanged, or the service may reset them.
 */
export interface FurtherSettings {
  readonly isFlexible?: unknown
  readonly reservedDailyGB?: unknown
  readonly softLimitGB?: unknown
  readonly snapSearchRetentionDays?: unknown
}

/** The body of a replace: every setting, because the service may reset a missing one. */
export interface SubAccountSettings extends FurtherSettings {
  /** Letters, digits, `-`, `.`, `_` and space. */
  readonly accountName: string
  /** Log capacity in GB per day. 0 accepts no logs; flexible accounts have null. */
  readonly maxDailyGB: number | null
  /** Days that logs are kept, at least 1. */
  readonly retentionDays: number
  /** Whether other accounts may search its logs. */
  readonly searchable: boolean
  /** Whether users of the main account may open it. */
  readonly accessible: boolean
  /** Whether each log records its size. */
  readonly docSizeSetting: boolean
  /** Ids of the accounts that share its saved objects. A request contains ids, never objects. */
  readonly sharingObjectsAccounts: readonly number[]
  readonly utilizationSettings: UtilizationSettings
}

/** A sub account as the list returns it (specification, "Sub account"), unknown members included. */
export interface SubAccount {
  readonly accountId: number
  readonly accountName: string
  /** Null in lists, according to the specification. */
  readonly email?: string | null | undefined
  /** Log capacity in GB per day, possibly fractional; null for flexible accounts. */
  readonly maxDailyGB: number | null
  /** Days that logs are kept. */
  readonly retentionDays: number
  readonly searchable: boolean
  readonly accessible: boolean
  readonly docSizeSetting: boolean
  /** Ids or objects, depending on the form of the service. A replace sends ids. */
  readonly sharingObjectsAccounts: readonly (number | SharingAccount)[]
  readonly utilizationSettings: UtilizationSettings
  readonly [member: string]: unknown
}

/**
 * The body of a create (specification, section 1). Deployed services also accept the members of a
 * replace, and some require `sharingObjectsAccounts`, at least as an empty array.
 */
export interface NewSubAccount extends Partial<SubAccountSettings> {
  /** Address of an existing user who is an admin of the main account. */
  readonly email: string
  /** Letters, digits, `-`, `.`, `_` and space. */
  readonly accountName: string
  /** Days that logs are kept, at least 1. */
  readonly retentionDays: number
  /** Log capacity in GB per day. The default of 0 accepts no logs. */
  readonly maxDailyGB?: number | null
}

/** The answer to a create. */
export interface CreatedSubAccount {
  readonly accountId: number
  /** Secret token for shipping logs to the new account. It is not an API token. */
  readonly accountToken: string
}
