import { type PlannedChange, planChange } from './change.ts'
import type { Settings, SubAccount } from './service.ts'
import { findSubAccount } from './settings.ts'

/**
 * Plans to give accounts the settings that they had: those whose capacity is reduced come first,
 * the one with the higher maxDailyGB before the others, so that none takes what is not free yet.
 * Accounts that have them are left out. Throws a `usage` error for accounts that are gone.
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
