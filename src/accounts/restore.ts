// Tested by test/e2e/accounts-restore.test.ts

import { type PlannedChange, planChange } from './change.ts'
import type { Settings, SubAccount } from './service.ts'
import { findSubAccount } from './settings.ts'

/**
 * Plans the replaces that restore settings. Reductions of capacity come first, highest maxDailyGB first,
 * so that the total does not grow. Leaves out accounts that have these settings. Throws a `usage` error
 * for accounts that the service does not list.
 */
export function planSettings(
  present: readonly SubAccount[],
  wanted: ReadonlyMap<number, Settings>,
  { mainId }: { mainId: number },
): PlannedChange[] {
  return [...wanted]
    .map(([id, settings]) => planChange(findSubAccount(present, id, mainId), settings))
    .filter(({ changes }) => changes.length > 0)
    .toSorted((one, other) => {
      const rank = ({ before, after }: PlannedChange) => (gbOf(after) < gbOf(before) ? 0 : 1)
      return rank(one) - rank(other) || gbOf(other.before) - gbOf(one.before)
    })
}

function gbOf({ maxDailyGB }: Settings): number {
  return maxDailyGB ?? 0
}
