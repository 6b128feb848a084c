import { isDeepStrictEqual } from 'node:util'
import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'

/** Writable members of deployed services that the specification does not have. */
export const furtherMembers = [
  'isFlexible',
  'reservedDailyGB',
  'softLimitGB',
  'snapSearchRetentionDays',
] as const

/**
 * The body of a replace that changes nothing: every member of the specification, ids of the accounts that
 * share objects, and further writable members that the list has.
 */
export function settingsOf(account: SubAccount): Settings {
  const further = furtherMembers.filter((member) => account[member] !== undefined)
  return {
    accountName: account.accountName,
    maxDailyGB: account.maxDailyGB,
    retentionDays: account.retentionDays,
    searchable: account.searchable,
    accessible: account.accessible,
    sharingObjectsAccounts: sharingIds(account.sharingObjectsAccounts),
    docSizeSetting: account.docSizeSetting,
    utilizationSettings: account.utilizationSettings,
    ...Object.fromEntries(further.map((member) => [member, account[member]])),
  }
}

/** Ids of the accounts that share objects, from either form of the list. */
export function sharingIds(entries: SubAccount['sharingObjectsAccounts']): number[] {
  return entries.map((entry) => (typeof entry === 'number' ? entry : entry.accountId))
}

/** A setting that differs; undefined on a side that does not have it. */
export interface SettingChange {
  /** Such as `maxDailyGB` or `utilizationSettings.frequencyMinutes`. */
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}

/** Compares settings by member. Ignores the order of the accounts that share objects. */
export function diffSettings(before: Settings, after: Settings): SettingChange[] {
  const [old, fresh] = [flatten(before), flatten(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((member) => ({ member, before: old.get(member), after: fresh.get(member) }))
    .filter((change) => !isDeepStrictEqual(change.before, change.after))
}

function flatten(settings: Settings): Map<string, unknown> {
  const { utilizationSettings, sharingObjectsAccounts, ...others } = settings
  const utilization = Object.entries(utilizationSettings)
  return new Map<string, unknown>([
    ...Object.entries(others),
    ['sharingObjectsAccounts', sharingObjectsAccounts.toSorted((a, b) => a - b)],
    ...utilization.map(([name, value]): [string, unknown] => [
      `utilizationSettings.${name}`,
      value,
    ]),
  ])
}

/** Finds a sub account in a list. Throws a `usage` error for the main account and unknown ids. */
export function findSubAccount(
  accounts: readonly SubAccount[],
  accountId: number,
  mainId: number,
): SubAccount {
  if (accountId === mainId) {
    throw new DashkeepError(`Cannot change account ${accountId}: it is the main account itself`, {
      kind: 'usage',
      hint: '`dashkeep accounts list` shows its sub accounts',
    })
  }
  const found = accounts.find((account) => account.accountId === accountId)
  if (found !== undefined) return found
  const known = accounts.map((account) => account.accountId).filter((id) => id !== mainId)
  const named = known.length > 20 ? `${known.slice(0, 20).join(', ')}, …` : known.join(', ')
  throw new DashkeepError(`Cannot find sub account ${accountId}: the service does not list it`, {
    kind: 'usage',
    hint: named === '' ? 'the service lists none' : `the service lists ${named}`,
  })
}
