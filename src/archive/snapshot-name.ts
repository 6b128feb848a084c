import { randomInt } from 'node:crypto'
import { DashkeepError } from '../errors.ts'

/** `20261120T163100Z-4f2a1c`: UTC second and six random hex digits, so that names sort by time. */
export const snapshotNamePattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/

/** Possible names in one second. With fewer unused ones, parallel runs might choose the same name. */
const namesPerSecond = 0x1000000
const minNamesLeft = 0x10000

/** A name is drawn from this share of those left, so that many later ones of the second find room. */
const SHARE_DRAWN = 1 / 8

/**
 * Creates the name of a snapshot. Two calls in the same second return different names. The name sorts
 * after `previous`, also when that is from the same second. Throws when few names of this second are
 * left, so that a clock that has stopped cannot lead to a name that is in use.
 */
export function createSnapshotName(takenAt: Date, previous?: string): string {
  const prefix = timePrefix(takenAt)
  const first = previous?.startsWith(prefix) ? Number.parseInt(previous.slice(-6), 16) + 1 : 0
  const left = namesPerSecond - first
  if (left < minNamesLeft) {
    throw new DashkeepError(
      `Cannot name a snapshot: too many have the same second as ${previous}`,
      {
        hint: "run the backup again; if the error stays, this machine's clock has stopped",
      },
    )
  }
  const suffix = first + randomInt(Math.floor(left * SHARE_DRAWN))
  return `${prefix}-${suffix.toString(16).padStart(6, '0')}`
}

/** The time at the start of a name. It serves as a lower bound of a listing. */
export function timePrefix(moment: Date): string {
  return `${moment.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** The time that a prefix such as `20261120T163100Z` stands for; undefined for any other text. */
export function timeOfPrefix(prefix: string): Date | undefined {
  const iso = prefix.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const time = new Date(iso)
  // `Date` reads 31 February as 3 March. Such names would not sort by time.
  return !Number.isNaN(time.getTime()) && prefix === timePrefix(time) ? time : undefined
}

/** The time in the name of a snapshot, to the second; undefined for any other name. */
export function snapshotTime(name: string): Date | undefined {
  return snapshotNamePattern.test(name) ? timeOfPrefix(name.slice(0, -7)) : undefined
}
