import type { SubAccount } from './service.ts'

/** What is known of the backups of one account. */
export interface KnownBackup {
  readonly accountId: number
  /** When its newest good snapshot was taken; undefined when all are suspect or damaged. */
  readonly newestGood: Date | undefined
}

/**
 * How well an account is covered:
 * - `covered`: configured, with a fresh good snapshot in the archive.
 * - `unconfigured`: it is not configured, whether or not the archive has snapshots of it.
 * - `missing`: the archive holds no good snapshot of it.
 * - `stale`: the newest good one is too old.
 */
export type CoverageState = 'covered' | 'unconfigured' | 'missing' | 'stale'

/** The backups of one sub account. */
export interface Coverage {
  readonly accountId: number
  readonly accountName: string
  readonly state: CoverageState
  readonly newestGood: Date | undefined
}

/** Says which sub accounts are backed up. Pure: asks neither service nor archive. */
export function judgeCoverage(
  accounts: readonly SubAccount[],
  known: {
    mainId: number
    configured: ReadonlySet<number>
    backups: readonly KnownBackup[]
    now: Date
    maxAgeMs: number
  },
): Coverage[] {
  const { mainId, configured, backups, now, maxAgeMs } = known
  const newest = new Map(backups.map(({ accountId, newestGood }) => [accountId, newestGood]))
  const stateOf = (accountId: number): CoverageState => {
    const newestGood = newest.get(accountId)
    if (!configured.has(accountId)) return 'unconfigured'
    if (newestGood === undefined) return 'missing'
    return now.getTime() - newestGood.getTime() > maxAgeMs ? 'stale' : 'covered'
  }
  return accounts
    .filter(({ accountId }) => accountId !== mainId)
    .map(({ accountId, accountName }) => {
      return {
        accountId,
        accountName,
        state: stateOf(accountId),
        newestGood: newest.get(accountId),
      }
    })
}
