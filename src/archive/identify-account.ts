import { checkClock } from './check-clock.ts'
import { checkOwner } from './check-owner.ts'
import type { Account, SavedObjectSource } from './source.ts'
import type { TakeOptions } from './take-options.ts'

/**
 * Asks the service which account the token belongs to. Throws when it is not the expected account,
 * or when this machine's clock and the service's clock differ too much.
 */
export async function identifyAccount(
  source: SavedObjectSource,
  options: TakeOptions,
): Promise<Account> {
  const account = await source.whoami({ signal: options.signal })
  checkOwner(account, options.expectedAccountId, { action: 'back up' })
  options.onProgress?.({ step: 'account', account })
  checkClock(source, account, options)
  return account
}
