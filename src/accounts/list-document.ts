import { parseListed } from './document.ts'
import type { Settings, SubAccount } from './service.ts'
import { settingsOf } from './settings.ts'

/** What snapshots and the configuration call the settings of sub accounts. */
export const subAccountsType = 'sub-accounts'

/**
 * The list of sub accounts in the form of an export, so that a snapshot keeps it as it keeps saved
 * objects: a hit for each account, its entry of the list in the member `sub-accounts`.
 */
export function encodeList(accounts: readonly SubAccount[]): Uint8Array {
  const hits = accounts.map((account) => ({
    _type: 'doc',
    _id: `${subAccountsType}:${account.accountId}`,
    _source: { type: subAccountsType, [subAccountsType]: account },
  }))
  return Buffer.from(JSON.stringify({ kibanaVersion: 'none', hits }))
}

/** Reads the settings out of a hit of such a document. Throws for what does not hold them. */
export function decodeHit(hit: Uint8Array): { accountId: number; settings: Settings } {
  const { _source } = JSON.parse(Buffer.from(hit).toString()) as {
    _source: Record<typeof subAccountsType, unknown>
  }
  const account = parseListed(_source[subAccountsType])
  return { accountId: account.accountId, settings: settingsOf(account) }
}
