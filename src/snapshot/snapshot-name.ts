import { randomBytes } from 'node:crypto'

/** `20261120T163100Z-4f2a1c`: UTC second and six random hex digits, so that names sort by time. */
export const snapshotNamePattern = /^\d{8}T\d{6}Z-[0-9a-f]{6}$/

/** Names a snapshot taken at this moment; two calls in the same second give two names. */
export function createSnapshotName(takenAt: Date): string {
  return `${timePrefix(takenAt)}-${randomBytes(3).toString('hex')}`
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
  return Number.isNaN(time.getTime()) ? undefined : time
}
