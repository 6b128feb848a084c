// Tested by test/e2e/promote-accounts.test.ts

import type { AccountConfig, Config } from '../../config/config.ts'
import { DashkeepError } from '../../errors.ts'
import { sameAccount } from '../../run/restore-to-service.ts'
import { type createIdentify, isPattern, selectAccounts } from './choose-account.ts'

/** The accounts to promote into. */
interface Targets {
  readonly accounts: readonly AccountConfig[]
  /** The names of accounts that a pattern matches and that are the source. */
  readonly leftOut: readonly string[]
}

/**
 * Chooses the accounts that names, patterns and ids mean, whatever the shard of this process. Leaves out
 * the source if only a pattern matches it. Throws a `usage` error when it is named, and when no other
 * account is left.
 */
export async function chooseTargets(
  config: Config,
  wanted: readonly string[],
  sourceId: number | undefined,
  identify: ReturnType<typeof createIdentify>,
): Promise<Targets> {
  const accounts = new Set<AccountConfig>()
  const leftOut = new Set<string>()
  for (const text of wanted) {
    const found = await selectAccounts({ ...config, shard: undefined }, [text], identify)
    for (const account of found.accounts) {
      const id = account.accountId ?? (await identify(account))
      if (id === undefined || id !== sourceId) accounts.add(account)
      else if (isPattern(text)) leftOut.add(account.name)
      else throw sameAccount(account.name, id)
    }
  }
  if (accounts.size > 0) return { accounts: [...accounts], leftOut: [...leftOut] }
  throw new DashkeepError(
    `Cannot promote into ${wanted.join(', ')}: only the account that the objects come from matches`,
    { kind: 'usage', hint: 'name other accounts with --to-accounts' },
  )
}
