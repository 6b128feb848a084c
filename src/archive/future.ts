/** How far a snapshot may be ahead of now: the clocks of two healthy machines differ by less. */
export const futureToleranceMs = 5 * 60_000

interface Dated {
  readonly takenAt: Date
}

/**
 * Whether a snapshot is from the future: the clock of its run was wrong, or this machine's is.
 * Every reader asks this function, so that all agree on which snapshot is the newest. Pure.
 */
export function isFromFuture({ takenAt }: Dated, now: Date): boolean {
  return takenAt.getTime() - now.getTime() > futureToleranceMs
}

/** Separates the snapshots that count at `now` from those of the future, each in the order given. */
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

/** Warns of one account's snapshots from the future, by their names; undefined without a name. */
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
