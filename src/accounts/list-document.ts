// Tested by test/e2e/accounts-restore.test.ts

import { parseListed } from './document.ts'
import type { Settings, SubAccount } from './service.ts'
import { settingsOf } from './settings.ts'

/** The name of the settings of sub accounts in snapshots and in the configuration. */
export const subAccountsType = 'sub-accounts'

/**
 * Encodes the list of sub accounts like an export of saved objects, so that a snapshot can store it. Each
 * account is a hit. Its entry of the list is the member `sub-accounts`.
 */
export function encodeList(accounts: readonly SubAccount[]): Uint8Array {
  const hits = accounts.map((account) => ({
    _type: 'doc',
    _id: `${subAccountsType}:${account.accountId}`,
    _source: { type: subAccountsType, [subAccountsType]: account },
  }))
  return Buffer.from(JSON.stringify({ kibanaVersion: 'none', hits }))
}

/** Reads the settings from a hit of such a document. Throws when the hit has none. */
export function decodeHit(hit: Uint8Array): { accountId: number; settings: Settings } {
  const { _source } = JSON.parse(Buffer.from(hit).toString()) as {
    _source: Record<typeof subAccountsType, unknown>
  }
  const account = parseListed(_source[subAccountsType])
  return { accountId: account.accountId, settings: settingsOf(account) }
}
