import { DashkeepError } from '../errors.ts'
import type { Account } from './source.ts'

/** What to do about a token of another account than the expected one. */
export const otherOwnerHint =
  'use a token of the expected account, or correct the expected account id'

/**
 * Throws a `usage` error when a token belongs to another account than the expected one, if one is
 * expected. `action` completes "Cannot … account 100001", such as `back up`.
 */
export function checkOwner(
  { accountId, accountName }: Account,
  expected: number | undefined,
  { action, hint = otherOwnerHint }: { action: string; hint?: string | undefined },
): void {
  if (expected === undefined || accountId === expected) return
  throw new DashkeepError(
    `Cannot ${action} account ${expected}: the token belongs to account ${accountId} (${accountName})`,
    { kind: 'usage', hint },
  )
}
