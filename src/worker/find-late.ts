import pMap from 'p-map'
import { type AccountStatus, readStatus } from '../archive/status.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { connectAccount, openArchive } from '../open.ts'
import { goodSnapshot } from '../run/last-good.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Accounts looked up at once. */
const LOOKUPS_AT_ONCE = 8

interface FindLateOptions {
  /** Accounts without a good snapshot since then are late. */
  readonly due: Date
  /** Snapshots taken later are from the future. */
  readonly now: Date
  readonly env: Environment
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called with the status of each account in the archive. */
  readonly onFound: (account: string, status: AccountStatus) => void
}

/**
 * Returns the names of the accounts without a good, undamaged snapshot in the archive since they were
 * due. Includes accounts that cannot be looked up: their run reports the cause.
 */
export async function findLate(config: Config, options: FindLateOptions): Promise<Set<string>> {
  const { due, now, log, signal, onFound } = options
  const late = new Set(config.accounts.map(({ name }) => name))
  const failures: Error[] = []
  const check = async (account: AccountConfig, store: ObjectStore) => {
    const accountId = await accountIdOf(account, config, options)
    for await (const status of readStatus(store, { now, accountId, signal })) {
      onFound(account.name, status)
      const newestGood = goodSnapshot(status.newestSound?.snapshot)
      if (newestGood && newestGood.takenAt >= due) late.delete(account.name)
    }
  }
  const fail = (error: Error) => void failures.push(error)
  try {
    await using store = await openArchive(config, options)
    const checkSafely = (account: AccountConfig) => check(account, store).catch(fail)
    await pMap(config.accounts, checkSafely, { concurrency: LOOKUPS_AT_ONCE })
  } catch (error) {
    fail(error as Error)
  }
  const [first] = failures
  if (first)
    log.warn({ reason: first.message, failures: failures.length }, 'archive cannot be read')
  return late
}

async function accountIdOf(
  account: AccountConfig,
  config: Config,
  { env, log, signal }: FindLateOptions,
): Promise<number> {
  if (account.accountId !== undefined) return account.accountId
  await using source = await connectAccount(account, config, { env, log })
  return (await source.whoami({ signal })).accountId
}
