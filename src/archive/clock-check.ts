import { DashkeepError } from '../errors.ts'
import type { Account } from './source.ts'

/** What a backup knows of the time. */
export interface ClockReading {
  /** When the snapshot counts as taken, read from this machine's clock at the start. */
  readonly takenAt: Date
  /** What this machine's clock shows now; before `takenAt` when it was set back since. */
  readonly now: Date
  /** How far the service's clock is ahead of `now`; undefined when the service has not said its time. */
  readonly skewMs: number | undefined
}

/**
 * Throws when this machine's clock and the service's differ by more than `maxSkewMs`. A snapshot that
 * is named by a wrong clock would be mistaken for a newer or an older one. A service that does not say
 * its time is no reason.
 */
export function checkClock(
  { accountId }: Account,
  { takenAt, now, skewMs }: ClockReading,
  maxSkewMs: number,
): void {
  if (skewMs === undefined) return
  const machine = takenAt > now ? takenAt : now
  const service = new Date(now.getTime() + skewMs)
  if (Math.abs(service.getTime() - machine.getTime()) <= maxSkewMs) return
  throw new DashkeepError(
    `Cannot back up account ${accountId}: this machine's clock shows ${toSecond(machine)}, the service's clock ${toSecond(service)}`,
    {
      hint: "set this machine's clock, for example by NTP; if the service's clock is the wrong one, raise limits.maxClockSkewMs",
    },
  )
}

function toSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`
}
