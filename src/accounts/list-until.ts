import { setTimeout as sleep } from 'node:timers/promises'
import type { SubAccount, SubAccountService } from './service.ts'

/** How long a write may take to show in a list. */
export interface PollLimits {
  /** Before the list is asked for a second time; doubles up to sixteen times as much. */
  readonly waitMs: number
  /** Lists in all. */
  readonly lists: number
}

/** Asks for the list until it is as it should be, or the limit is reached; returns the last list. */
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
