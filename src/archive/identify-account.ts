import { DashkeepError } from '../errors.ts'
import { checkClock } from './clock-check.ts'
import type { Account, SavedObjectSource } from './source.ts'
import type { TakeOptions } from './take-options.ts'

/**
 * Asks the service which account the token belongs to. Throws when it is not the expected account,
 * or when this machine's clock and the service's differ too much.
 */
export async function identifyAccount(
  source: SavedObjectSource,
  options: TakeOptions,
): Promise<Account> {
  const account = await source.whoami({ signal: options.signal })
  const { accountId, accountName } = account
  const expected = options.expectedAccountId
  if (expected !== undefined && accountId !== expected) {
    throw new DashkeepError(
      `Cannot back up account ${expected}: the token belongs to account ${accountId} (${accountName})`,
      {
        kind: 'usage',
        hint: 'use a token of the expected account, or correct the expected account id',
      },
    )
  }
  options.onProgress?.({ step: 'account', account })
  refuseWrongClock(source, account, options)
  return account
}

/**
 * Throws when this machine's clock and the service's differ by more than `maxClockSkewMs`. A run
 * checks before the exports and after them, since each answer of the service carries its time.
 */
export function refuseWrongClock(
  { clockSkewMs: skewMs }: SavedObjectSource,
  account: Account,
  { takenAt, now = () => new Date(), maxClockSkewMs }: TakeOptions,
): void {
  if (maxClockSkewMs === undefined) return
  checkClock(account, { takenAt, now: now(), skewMs }, maxClockSkewMs)
}
