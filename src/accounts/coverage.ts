// Tested by test/e2e/accounts-coverage.test.ts

import type { SubAccount } from './service.ts'

/** The backups of one account in the archive. */
export interface KnownBackup {
  readonly accountId: number
  /** When its newest good snapshot was taken; undefined when all are suspect or damaged. */
  readonly newestGood: Date | undefined
}

/**
 * Whether an account is backed up:
 * - `covered`: configured, with a recent good snapshot in the archive.
 * - `unconfigured`: it is not configured, whether or not the archive has snapshots of it.
 * - `missing`: the archive holds no good snapshot of it.
 * - `stale`: the newest good one is too old.
 */
type CoverageState = 'covered' | 'unconfigured' | 'missing' | 'stale'

/** What each state means. */
export const coverageReasons: Readonly<Record<CoverageState, string>> = {
  covered: '',
  unconfigured: 'no configured account backs it up',
  missing: 'the archive holds no good snapshot of it',
  stale: 'its newest good snapshot is too old',
}

/** The backups of one sub account. */
export interface Coverage {
  readonly accountId: number
  readonly accountName: string
  readonly state: CoverageState
  readonly newestGood: Date | undefined
}

/** The backups of the sub accounts of a main account. */
export interface CoverageFound {
  readonly accounts: readonly Coverage[]
  /** Names of configured accounts whose token the service did not identify. */
  readonly unidentified: readonly string[]
}

/** Judges whether each sub account is backed up. Pure: reads neither service nor archive. */
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
