import type { AccountStatus } from './status.ts'

/** What `status` says of an account; `missing` when the archive holds nothing of it. */
export type AccountState = 'good' | 'stale' | 'suspect' | 'damaged' | 'from-future' | 'missing'

/**
 * Judges what the archive says of an account. An account is stale when its newest good snapshot is
 * older than `maxAgeMs`; stale outweighs the other states. Pure.
 */
export function stateOf(
  { newestGoodAt, suspects, problems, fromFuture }: AccountStatus,
  { now, maxAgeMs }: { now: Date; maxAgeMs: number | undefined },
): AccountState {
  if (newestGoodAt === undefined) {
    if (problems.length > 0) return 'damaged'
    return suspects.length === 0 && fromFuture.length > 0 ? 'from-future' : 'suspect'
  }
  const age = now.getTime() - newestGoodAt.getTime()
  if (maxAgeMs !== undefined && age > maxAgeMs) return 'stale'
  if (problems.length > 0) return 'damaged'
  if (suspects.length > 0) return 'suspect'
  return fromFuture.length > 0 ? 'from-future' : 'good'
}

interface NamedAccount {
  readonly accountId: number | undefined
  readonly name: string
}

/**
 * Finds the accounts of which the archive holds nothing. An account without a configured id is there
 * when the newest snapshot of some account was taken under its configured name. Pure.
 */
export function findMissing<Account extends NamedAccount>(
  accounts: readonly Account[],
  found: readonly { accountId: number | undefined; configuredAs: string | undefined }[],
): Account[] {
  const ids = new Set(found.map(({ accountId }) => accountId))
  const names = new Set(found.map(({ configuredAs }) => configuredAs))
  return accounts.filter(({ accountId, name }) =>
    accountId === undefined ? !names.has(name) : !ids.has(accountId),
  )
}
