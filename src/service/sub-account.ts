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
 * Writable members that deployed services know beyond the specification. The list returns those
 * an account has, and a replace should send them back as they came, lest they be reset.
 */
export interface FurtherSettings {
  readonly isFlexible?: unknown
  readonly reservedDailyGB?: unknown
  readonly softLimitGB?: unknown
  readonly snapSearchRetentionDays?: unknown
}

/** What a replace sends: everything, since a member left out may be reset to its default. */
export interface SubAccountSettings extends FurtherSettings {
  /** Letters, digits, `-`, `.`, `_` and space. */
  readonly accountName: string
  /** Log capacity in GB per day. 0 takes no logs at all; null belongs to flexible accounts. */
  readonly maxDailyGB: number | null
  /** Days that logs are kept, at least 1. */
  readonly retentionDays: number
  /** Whether other accounts may search its logs. */
  readonly searchable: boolean
  /** Whether users of the main account may open it. */
  readonly accessible: boolean
  /** Whether each log carries its size. */
  readonly docSizeSetting: boolean
  /** Ids of the accounts that share its saved objects. A request takes ids, never objects. */
  readonly sharingObjectsAccounts: readonly number[]
  readonly utilizationSettings: UtilizationSettings
}

/** A sub account as the list returns it (specification, "Sub account"), unknown members included. */
export interface SubAccount {
  readonly accountId: number
  readonly accountName: string
  /** Null in lists by the specification. */
  readonly email?: string | null | undefined
  /** Log capacity in GB per day, possibly fractional; null for flexible accounts. */
  readonly maxDailyGB: number | null
  /** Days that logs are kept. */
  readonly retentionDays: number
  readonly searchable: boolean
  readonly accessible: boolean
  readonly docSizeSetting: boolean
  /** Ids by one form of the service, objects by the other; a replace takes ids only. */
  readonly sharingObjectsAccounts: readonly (number | SharingAccount)[]
  readonly utilizationSettings: UtilizationSettings
  readonly [member: string]: unknown
}

/**
 * What a create sends (specification, section 1). Deployed services take the members of a replace
 * besides, and some want `sharingObjectsAccounts`, if only as an empty array.
 */
export interface NewSubAccount extends Partial<SubAccountSettings> {
  /** Address of an existing user who is an admin of the main account. */
  readonly email: string
  /** Letters, digits, `-`, `.`, `_` and space. */
  readonly accountName: string
  /** Days that logs are kept, at least 1. */
  readonly retentionDays: number
  /** Log capacity in GB per day. The default of 0 takes no logs at all. */
  readonly maxDailyGB?: number | null
}

/** The answer to a create. */
export interface CreatedSubAccount {
  readonly accountId: number
  /** Secret. Ships logs to the new account; it is no API token. */
  readonly accountToken: string
}
