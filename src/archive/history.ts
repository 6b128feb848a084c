import { stableBytes } from '../export/content-digest.ts'
import type { StoredHit } from './read-objects.ts'
import { pickObjects, type SearchOptions } from './stored-export.ts'
import type { Stretch, Timeline } from './timeline.ts'

/** A change of an object, and the first snapshot that shows it. */
export interface HistoryEvent {
  /**
   * `appeared` in the first snapshot with the object; `renamed` when the title changed, with or without
   * other changes; `unreadable` when every copy of the snapshot's file is damaged.
   */
  readonly kind: 'appeared' | 'changed' | 'renamed' | 'disappeared' | 'returned' | 'unreadable'
  readonly snapshot: string
  readonly takenAt: Date
  /** Whether the snapshot is suspect. An object may be missing only in this snapshot. */
  readonly suspect: boolean
  /** The version before; for `returned`, the last version before the object disappeared. */
  readonly before?: StoredHit | undefined
  readonly after?: StoredHit | undefined
  /** Why the snapshot is unreadable. */
  readonly problem?: string
}

/** A version of the object, and the part of it that a change of touch-only members leaves alone. */
interface Version {
  readonly hit: StoredHit
  readonly stable: Buffer
}

/**
 * Yields the changes of one object in all snapshots of its account, oldest first. Ignores changes of
 * touch-only members alone (see `stableBytes`). Keeps two versions in memory. Reads one export for each
 * stretch of the type. When that is damaged, reads another copy and calls `onUnreadable`.
 */
export async function* readHistory(
  timeline: Timeline,
  { id, type }: { id: string; type: string },
  options: SearchOptions = {},
): AsyncGenerator<HistoryEvent> {
  let present = false
  let latest: Version | undefined
  for (const stretch of timeline.stretches(type)) {
    const { snapshot, takenAt, suspect } = stretch.manifest
    const event = { snapshot, takenAt: new Date(takenAt), suspect: suspect !== undefined }
    const { version, problem } = await readVersion(stretch, id, options)
    if (problem !== undefined) {
      yield { ...event, kind: 'unreadable', problem }
      continue
    }
    const kind = kindOf(latest, version, present)
    if (kind !== undefined) yield { ...event, kind, before: latest?.hit, after: version?.hit }
    present = version !== undefined
    latest = version ?? latest
  }
}

function kindOf(
  latest: Version | undefined,
  version: Version | undefined,
  present: boolean,
): HistoryEvent['kind'] | undefined {
  if (version === undefined) return present ? 'disappeared' : undefined
  if (latest === undefined) return 'appeared'
  if (!present) return 'returned'
  if (latest.stable.equals(version.stable)) return undefined
  return latest.hit.title === version.hit.title ? 'changed' : 'renamed'
}

interface Reading {
  /** Undefined when the snapshot does not have the object. */
  readonly version?: Version | undefined
  /** Why the version is unknown: every copy of the file is damaged. */
  readonly problem?: string
}

async function readVersion(stretch: Stretch, id: string, options: SearchOptions): Promise<Reading> {
  let problem: string | undefined
  const versions = await pickObjects(
    stretch,
    (object, hit): Version | undefined => {
      if (object.id !== id) return undefined
      const bytes = Uint8Array.from(hit.bytes)
      return { hit: { id, title: object.title, bytes }, stable: Buffer.from(stableBytes(hit)) }
    },
    {
      ...options,
      onUnreadable(error) {
        problem ??= error.message
        options.onUnreadable?.(error)
      },
    },
  )
  return versions === undefined && problem !== undefined
    ? { problem }
    : { version: versions?.at(-1) }
}
