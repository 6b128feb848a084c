import type { TakenSnapshot } from '../archive/take.ts'
import type { Config, CopyConfig, Environment } from '../config/config.ts'
import { copySnapshots } from '../copy/copy-snapshots.ts'
import { planCopy } from '../copy/plan-copy.ts'
import type { Logger } from '../log.ts'
import { openCopy } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { AccountBackup } from './back-up.ts'

interface CopyBackupsOptions {
  readonly env: Environment
  readonly log: Logger
  readonly now: () => Date
  readonly signal?: AbortSignal | undefined
  /** Adds a warning to the report of an account. */
  readonly onWarning: (account: string, warning: string) => void
}

/**
 * Copies what the configured copies lack of the accounts that have been backed up. Returns the
 * backups, with a warning for each account that could not be copied. Throws only when interrupted.
 */
export async function copyBackups(
  config: Config,
  store: ObjectStore,
  backups: readonly AccountBackup[],
  options: CopyBackupsOptions,
): Promise<readonly AccountBackup[]> {
  const warnings = new Map<number, string[]>()
  const accounts = new Set(backups.flatMap(({ taken }) => taken?.manifest.account.id ?? []))
  if (accounts.size === 0) return backups
  for (const copy of config.copies) {
    const found = await copyAccounts(config, copy, { store, accounts, ...options })
    for (const [id, text] of found) warnings.set(id, [...(warnings.get(id) ?? []), text])
  }
  return backups.map((backup) => {
    const { taken, account } = backup
    const found = (taken && warnings.get(taken.manifest.account.id)) ?? []
    for (const warning of found) options.onWarning(account.name, warning)
    return taken && found.length > 0 ? { ...backup, taken: withWarnings(taken, found) } : backup
  })
}

function withWarnings(taken: TakenSnapshot, warnings: readonly string[]): TakenSnapshot {
  return { ...taken, warnings: [...taken.warnings, ...warnings] }
}

/** Copies to one store. Returns a warning for each account of which something is not copied. */
async function copyAccounts(
  config: Config,
  copy: CopyConfig,
  {
    store: source,
    accounts,
    env,
    log,
    now,
    signal,
  }: CopyBackupsOptions & { store: ObjectStore; accounts: ReadonlySet<number> },
): Promise<Map<number, string>> {
  const warnings = new Map<number, string>()
  const open = new Set(accounts)
  let target: ObjectStore | undefined
  let copied = 0
  try {
    target = await openCopy(copy, config, { env, log })
    const stores = { source, target }
    const selection = { only: accounts, newerOnly: copy.newerOnly, now: now(), signal }
    for await (const plan of planCopy(stores, selection)) {
      for await (const { defects } of copySnapshots(stores, plan, { now: now(), signal })) {
        const [defect] = defects
        if (defect === undefined) copied += 1
        else warnings.set(plan.accountId, notCopied(copy, `${defect.key}: ${defect.problem}`))
      }
      open.delete(plan.accountId)
    }
  } catch (error) {
    signal?.throwIfAborted()
    const { message } = error as Error
    for (const accountId of open) warnings.set(accountId, notCopied(copy, message))
  } finally {
    await target?.close()
  }
  log.info({ copy: copy.name, snapshots: copied }, 'copied')
  for (const reason of new Set(warnings.values()))
    log.warn({ copy: copy.name, reason }, 'not copied')
  return warnings
}

function notCopied({ name }: CopyConfig, reason: string): string {
  return `not copied to ${name}: ${reason}`
}
