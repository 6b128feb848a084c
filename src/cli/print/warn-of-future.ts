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

/** Logs a warning for the names of snapshots from the future, if there are any. */
export function logFuture(log: Logger, accountId: number, fromFuture: readonly string[]): void {
  const warning = warningOfFuture(accountId, fromFuture)
  if (warning !== undefined) log.warn({ accountId, fromFuture }, warning)
}

/** Collects snapshots from the future. */
export interface FutureWatch {
  /** Adds a snapshot if it is from the future. Returns whether it is. */
  see(folder: SnapshotFolder): boolean
  /** The collected names. */
  names(): string[]
  /** Logs a warning for each account with collected snapshots. */
  warn(log: Logger): void
}

/** Creates a watch that collects the snapshots from the future, by account. */
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
