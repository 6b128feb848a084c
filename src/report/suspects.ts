import { countObjects, type Manifest } from '../archive/manifest.ts'
import type { ReadSnapshot } from './read-snapshot.ts'

/** The rules of the guard that show whether somebody accepted a fall. */
export interface GuardRules {
  readonly maxFall: number
  readonly windowMs: number
}

/** A snapshot that was taken as suspect, and what followed. */
export interface SuspectSnapshot {
  readonly snapshot: string
  readonly takenAt: Date
  readonly reasons: readonly string[]
  readonly objects: number
  /** The next good snapshot; undefined when none has followed. */
  readonly followedBy:
    | {
        readonly snapshot: string
        readonly takenAt: Date
        readonly objects: number
        /** Whether it has the same defect. It is good because somebody accepted it. */
        readonly accepted: boolean
      }
    | undefined
}

/**
 * Lists the suspect snapshots since a time, and older ones that no good snapshot has followed. Expects
 * all snapshots of an account, oldest first. Pure.
 */
export function listSuspects(
  snapshots: readonly ReadSnapshot[],
  { since, guard }: { since: Date; guard: GuardRules },
): SuspectSnapshot[] {
  const suspects: SuspectSnapshot[] = []
  let next: ReadSnapshot | undefined
  for (const one of snapshots.toReversed()) {
    const { snapshot, takenAt, manifest, state } = one
    if (state === 'good') next = one
    if (manifest?.suspect === undefined || (next !== undefined && takenAt < since)) continue
    const { reasons } = manifest.suspect
    const followedBy = next && describeNext(manifest, next, guard)
    suspects.push({ snapshot, takenAt, reasons, objects: countObjects(manifest), followedBy })
  }
  return suspects.toReversed()
}

function describeNext(
  suspect: Manifest,
  { snapshot, takenAt, manifest }: ReadSnapshot,
  guard: GuardRules,
): SuspectSnapshot['followedBy'] {
  if (manifest === undefined) return undefined
  const accepted = isSame(suspect, manifest) || isFallen(suspect, manifest, guard)
  return { snapshot, takenAt, objects: countObjects(manifest), accepted }
}

/** Whether both have the same objects. */
function isSame({ exports }: Manifest, other: Manifest): boolean {
  return exports.every(({ type, contentDigest }) => digestOf(other, type) === contentDigest)
}

function digestOf({ exports }: Manifest, type: string): string | undefined {
  return exports.find((entry) => entry.type === type)?.contentDigest
}

/**
 * Whether a good snapshot has fewer objects than the guard allows after the number that a suspect one
 * remembers.
 */
function isFallen(
  { memory = {} }: Manifest,
  { exports, takenAt }: Manifest,
  { maxFall, windowMs }: GuardRules,
): boolean {
  return exports.some(({ type, objects, sound = objects }) =>
    memory[type]?.highs.some((high) => {
      const isRecent = Date.parse(takenAt) - Date.parse(high.takenAt) <= windowMs
      return isRecent && high.sound - sound > high.sound * maxFall
    }),
  )
}
