import { DashkeepError } from '../errors.ts'
import type { Account } from './source.ts'

/** The times that a backup compares. */
interface ClockReading {
  /** Time of the snapshot, read from this machine's clock at the start. */
  readonly takenAt: Date
  /** Current time of this machine's clock. It is before `takenAt` if the clock was set back. */
  readonly now: Date
  /** How far the service's clock is ahead of `now`; undefined when the service sent no time. */
  readonly skewMs: number | undefined
}

/**
 * Throws when this machine's clock and the service's clock differ by more than `maxSkewMs`. With a
 * wrong clock, a snapshot would get the name of a newer or an older one. Does not throw when the
 * service sends no time.
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
