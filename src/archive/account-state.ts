// Tested by test/e2e/future.test.ts

import type { AccountJudgement } from './status.ts'

/**
 * State of an account in the archive; `missing` when the archive has no snapshot of it, `unproven` when
 * its newest good proof is too old, or a check has failed since.
 */
export type AccountState =
  | 'good'
  | 'stale'
  | 'suspect'
  | 'damaged'
  | 'from-future'
  | 'unproven'
  | 'missing'

/**
 * Returns the state of an account. It is stale when its newest good snapshot is older than
 * `maxAgeMs`, whatever else is wrong. It is `unproven` only when nothing else is wrong. Pure.
 */
export function stateOf(
  { newestGoodAt, suspects, problems, fromFuture }: AccountJudgement,
  options: { now: Date; maxAgeMs: number | undefined; unproven?: boolean | undefined },
): AccountState {
  const { now, maxAgeMs, unproven } = options
  if (newestGoodAt === undefined) {
    if (problems.length > 0) return 'damaged'
    return suspects.length === 0 && fromFuture.length > 0 ? 'from-future' : 'suspect'
  }
  const age = now.getTime() - newestGoodAt.getTime()
  if (maxAgeMs !== undefined && age > maxAgeMs) return 'stale'
  if (problems.length > 0) return 'damaged'
  if (suspects.length > 0) return 'suspect'
  if (fromFuture.length > 0) return 'from-future'
  return unproven ? 'unproven' : 'good'
}

interface NamedAccount {
  readonly accountId: number | undefined
  readonly name: string
}

/**
 * Finds the accounts that have no snapshot in the archive. An account without a configured id is
 * found by the configured name in the newest snapshot of each account. Pure.
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
