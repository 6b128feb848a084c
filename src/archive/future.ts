/** How far a snapshot may be ahead of the current time. Correct clocks differ by less. */
export const futureToleranceMs = 5 * 60_000

interface Dated {
  readonly takenAt: Date
}

/**
 * Whether a snapshot is from the future: the clock of its run or this machine's clock is wrong. All
 * readers use this function, so that they agree on the newest snapshot. Pure.
 */
export function isFromFuture({ takenAt }: Dated, now: Date): boolean {
  return takenAt.getTime() - now.getTime() > futureToleranceMs
}

/** Separates snapshots from the future from the others. Keeps the order. */
export function splitByTime<Snapshot extends Dated>(
  snapshots: readonly Snapshot[],
  now: Date,
): { past: Snapshot[]; future: Snapshot[] } {
  return {
    past: snapshots.filter((snapshot) => !isFromFuture(snapshot, now)),
    future: snapshots.filter((snapshot) => isFromFuture(snapshot, now)),
  }
}

/** Names listed in one warning. */
const MAX_NAMED = 3

/** The warning about an account's snapshots from the future; undefined when there are none. */
export function warningOfFuture(
  accountId: number,
  snapshots: readonly string[],
): string | undefined {
  if (snapshots.length === 0) return undefined
  const named = snapshots.slice(0, MAX_NAMED)
  const more = snapshots.length > MAX_NAMED ? ` and ${snapshots.length - MAX_NAMED} more` : ''
  const found = `snapshots from the future are ignored: ${named.join(', ')}${more}`
  const advice = `if this machine's clock is right, remove them with \`dashkeep prune --remove ${named.join(' ')}\``
  return `account ${accountId}: ${found}; ${advice}`
}
