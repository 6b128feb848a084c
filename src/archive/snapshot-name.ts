import { randomInt } from 'node:crypto'
import { DashkeepError } from '../errors.ts'

/** `20261120T163100Z-4f2a1c`: UTC second and six random hex digits, so that names sort by time. */
export const snapshotNamePattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/

/** Names to one second, and how many of them must be left: fewer, and runs side by side might meet. */
const namesPerSecond = 0x1000000
const minNamesLeft = 0x10000

/**
 * Names a snapshot taken at this moment; two calls in the same second give two names. The name
 * sorts behind `previous` also when that was taken in the same second. Throws when so many were
 * that hardly a name is left: a clock that stands still must not lead to a name in use.
 */
export function createSnapshotName(takenAt: Date, previous?: string): string {
  const prefix = timePrefix(takenAt)
  const first = previous?.startsWith(prefix) ? Number.parseInt(previous.slice(-6), 16) + 1 : 0
  const left = namesPerSecond - first
  if (left < minNamesLeft) {
    throw new DashkeepError(`Cannot name a snapshot: too many are from the second of ${previous}`, {
      hint: "run the backup again; if this stays so, this machine's clock stands still",
    })
  }
  const suffix = first + randomInt(left >> 3)
  return `${prefix}-${suffix.toString(16).padStart(6, '0')}`
}

/** The part of a name that stands for time, for use as a lower bound in a listing. */
export function timePrefix(moment: Date): string {
  return `${moment.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** The second in which the snapshot was taken, or undefined when this is no snapshot's name. */
export function snapshotTime(name: string): Date | undefined {
  if (!snapshotNamePattern.test(name)) return undefined
  const iso = name.replace(/^(....)(..)(..)T(..)(..)(..)Z.*$/, '$1-$2-$3T$4:$5:$6Z')
  const time = new Date(iso)
  // 31 February would be read as 3 March, and names would no longer sort by time.
  return !Number.isNaN(time.getTime()) && name.startsWith(timePrefix(time)) ? time : undefined
}
