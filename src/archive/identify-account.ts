import { checkOwner } from './check-owner.ts'
import { checkClock } from './clock-check.ts'
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
  refuseWrongClock(source, account, options)
  return account
}

/**
 * Throws when this machine's clock and the service's clock differ by more than `maxClockSkewMs`. A
 * run checks this before and after the exports, because each answer of the service has its time.
 */
export function refuseWrongClock(
  { clockSkewMs: skewMs }: SavedObjectSource,
  account: Account,
  { takenAt, now = () => new Date(), maxClockSkewMs }: TakeOptions,
): void {
  if (maxClockSkewMs === undefined) return
  checkClock(account, { takenAt, now: now(), skewMs }, maxClockSkewMs)
}
