import { setTimeout as sleep } from 'node:timers/promises'
import type { SubAccount, SubAccountService } from './service.ts'

/** Limits of the wait until a list shows a change. */
export interface PollLimits {
  /** Wait before the second list. Doubles each time, up to 16 times this value. */
  readonly waitMs: number
  /** Maximum number of lists. */
  readonly lists: number
}

/** Reads the list until `isShown` accepts it or the limit is reached. Returns the last list. */
export async function listUntil(
  service: SubAccountService,
  isShown: (accounts: readonly SubAccount[]) => boolean,
  { pollLimits, signal }: { pollLimits: PollLimits; signal?: AbortSignal | undefined },
): Promise<{ accounts: readonly SubAccount[]; shown: boolean }> {
  for (let turn = 1; ; turn += 1) {
    const accounts = await service.listSubAccounts({ signal })
    const shown = isShown(accounts)
    if (shown || turn >= pollLimits.lists) return { accounts, shown }
    const waitMs = pollLimits.waitMs * 2 ** Math.min(turn - 1, 4)
    await sleep(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}
