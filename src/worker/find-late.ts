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
  /** When a good snapshot should have been taken at the latest. */
  readonly due: Date
  /** What snapshots from the future are told by. */
  readonly now: Date
  readonly env: Environment
  readonly log: Logger
  readonly signal: AbortSignal
  /** Called with what the archive holds of an account. */
  readonly onFound: (account: string, status: AccountStatus) => void
}

/**
 * Names the accounts without a good, undamaged snapshot since they were due, by the archive. Where that cannot
 * be found out an account is late: its run will tell what is wrong.
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
    const store = await openArchive(config, options)
    const checkSafely = (account: AccountConfig) => check(account, store).catch(fail)
    await pMap(config.accounts, checkSafely, { concurrency: LOOKUPS_AT_ONCE })
    await store.close()
  } catch (error) {
    fail(error as Error)
  }
  const [first] = failures
  if (first) log.warn({ reason: first.message, failures: failures.length }, 'archive not asked')
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
