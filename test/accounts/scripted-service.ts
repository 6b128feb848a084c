import type { Settings, SubAccount, SubAccountService } from '../../src/accounts/service.ts'

/** A sub account as the list shows it. */
export function subAccount(
  accountId: number,
  maxDailyGB: number | null,
  changes: Partial<SubAccount> = {},
): SubAccount {
  return {
    accountId,
    accountName: `Account ${accountId}`,
    email: null,
    maxDailyGB,
    retentionDays: 7,
    searchable: true,
    accessible: false,
    docSizeSetting: true,
    sharingObjectsAccounts: [],
    utilizationSettings: { frequencyMinutes: 5, utilizationEnabled: true },
    ...changes,
  }
}

/** What a replace of a scripted service may do. */
export type Fate = 'done' | 'refused' | 'lost' | 'not sent'

/** A service in memory that watches the sum of the capacities. */
export interface ScriptedService extends SubAccountService {
  /** Capacities by account. */
  readonly capacities: Map<number, number>
  /** The most that all accounts took together at any time. */
  readonly highestGb: number
  /** Replaces in their order, as `id=gb`. */
  readonly replaced: string[]
}

class Refused extends Error {}

/** Starts with these capacities; the n-th replace has the n-th fate, `done` when there is none. */
export function createScriptedService(
  start: ReadonlyMap<number, number>,
  fates: readonly Fate[] = [],
): ScriptedService {
  const capacities = new Map(start)
  const replaced: string[] = []
  const total = () => [...capacities.values()].reduce((sum, gb) => sum + gb, 0)
  let highestGb = total()
  return {
    capacities,
    replaced,
    get highestGb() {
      return highestGb
    },
    listSubAccounts: async () => [...capacities].map(([id, gb]) => subAccount(id, gb)),
    createSubAccount: async () => ({ accountId: 1, accountToken: 'shipping' }),
    async replaceSubAccount(accountId: number, { maxDailyGB }: Settings) {
      const fate = fates[replaced.length] ?? 'done'
      replaced.push(`${accountId}=${maxDailyGB}`)
      if (fate === 'refused') throw new Refused('refused')
      if (fate === 'not sent') throw new Error('broke off')
      capacities.set(accountId, maxDailyGB ?? 0)
      highestGb = Math.max(highestGb, total())
      if (fate === 'lost') throw new Error('broke off')
    },
    isRefusal: (error) => error instanceof Refused,
  }
}
