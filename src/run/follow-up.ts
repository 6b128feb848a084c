// Tested by test/e2e/copy.test.ts

import type { TakenSnapshot } from '../archive/take.ts'
import type { Config } from '../config/config.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { AccountBackup } from './back-up.ts'
import type { AfterRunOptions, WarningsByAccount } from './copy-backups.ts'

interface FollowUpOptions extends AfterRunOptions {
  /** Adds a warning to the report of an account. */
  readonly onWarning: (account: string, warning: string) => void
}

/**
 * Does what follows the backups: copies them to the configured copies, and commits them to git. Returns
 * the backups, with a warning for each step that failed for an account. Throws only when the process is
 * stopped.
 */
export async function followUp(
  config: Config,
  store: ObjectStore,
  backups: readonly AccountBackup[],
  options: FollowUpOptions,
): Promise<readonly AccountBackup[]> {
  const accounts = new Set(backups.flatMap(({ taken }) => taken?.manifest.account.id ?? []))
  const [notCopied, notCommitted] = await Promise.all([
    copyAll(config, store, accounts, options),
    commitAll(config, store, accounts, options),
  ])
  return backups.map((backup) => {
    const { taken, account } = backup
    const id = taken?.manifest.account.id ?? Number.NaN
    const found = [notCopied, notCommitted].flatMap((warnings) => warnings.get(id) ?? [])
    for (const warning of found) options.onWarning(account.name, warning)
    return taken && found.length > 0 ? { ...backup, taken: withWarnings(taken, found) } : backup
  })
}

async function copyAll(
  config: Config,
  store: ObjectStore,
  accounts: ReadonlySet<number>,
  options: AfterRunOptions,
): Promise<WarningsByAccount> {
  if (config.copies.length === 0 || accounts.size === 0) return new Map()
  // Lazy: most runs have no copies.
  const { copyAccounts } = await import('./copy-backups.ts')
  return copyAccounts(config, store, accounts, options)
}

async function commitAll(
  config: Config,
  store: ObjectStore,
  accounts: ReadonlySet<number>,
  options: AfterRunOptions,
): Promise<WarningsByAccount> {
  if (config.git === undefined || accounts.size === 0) return new Map()
  // Lazy: most runs need no git.
  const { commitAccounts } = await import('./commit-backups.ts')
  return commitAccounts(config.git, config, { store, accounts, ...options })
}

function withWarnings(taken: TakenSnapshot, warnings: readonly string[]): TakenSnapshot {
  return { ...taken, warnings: [...taken.warnings, ...warnings] }
}
