import { DashkeepError } from '../errors.ts'
import type { Account, SavedObjectSource } from './source.ts'
import type { TakeOptions } from './take-options.ts'

/**
 * Throws when this machine's clock and the service's clock differ by more than `maxClockSkewMs`. With a
 * wrong clock, a snapshot would get the name of a newer or an older one. Does not throw when the
 * service sends no time. A run checks this before and after the exports, because each answer of the
 * service has its time.
 */
export function checkClock(
  { clockSkewMs }: SavedObjectSource,
  { accountId }: Account,
  { takenAt, now = () => new Date(), maxClockSkewMs }: TakeOptions,
): void {
  if (maxClockSkewMs === undefined || clockSkewMs === undefined) return
  const present = now()
  // The clock may have been set back since the run began.
  const machine = takenAt > present ? takenAt : present
  const service = new Date(present.getTime() + clockSkewMs)
  if (Math.abs(service.getTime() - machine.getTime()) <= maxClockSkewMs) return
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
