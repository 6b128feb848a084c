import type { SnapshotFolder } from '../../archive/archive.ts'
import { isFromFuture, splitByTime, warningOfFuture } from '../../archive/future.ts'
import type { Logger } from '../../log.ts'

/** Logs a warning for an account that has snapshots from the future. */
export function warnOfFuture(
  log: Logger,
  accountId: number,
  folders: readonly SnapshotFolder[],
  now: Date,
): void {
  const { future } = splitByTime(folders, now)
  logFuture(
    log,
    accountId,
    future.map(({ snapshot }) => snapshot),
  )
}

/** Logs the same for names that are already known to be from the future; nothing without a name. */
export function logFuture(log: Logger, accountId: number, fromFuture: readonly string[]): void {
  const warning = warningOfFuture(accountId, fromFuture)
  if (warning !== undefined) log.warn({ accountId, fromFuture }, warning)
}

/** Collects the snapshots from the future among folders that pass one by one. */
export interface FutureWatch {
  /** Whether this one is from the future. */
  see(folder: SnapshotFolder): boolean
  /** Names seen so far. */
  names(): string[]
  /** Logs a warning for each account of which one was seen. */
  warn(log: Logger): void
}

export function watchForFuture(now: Date): FutureWatch {
  const byAccount = new Map<number, string[]>()
  return {
    see(folder) {
      const { accountId, snapshot } = folder
      const fromFuture = isFromFuture(folder, now)
      if (fromFuture) byAccount.set(accountId, [...(byAccount.get(accountId) ?? []), snapshot])
      return fromFuture
    },
    names: () => [...byAccount.values()].flat(),
    warn(log) {
      for (const [accountId, names] of byAccount) logFuture(log, accountId, names)
    },
  }
}
