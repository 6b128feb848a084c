import { stableBytes } from '../export/content-digest.ts'
import type { StoredHit } from './read-objects.ts'
import { pickObjects, type SearchOptions } from './stored-export.ts'
import type { Stretch, Timeline } from './timeline.ts'

/** Something that happened to an object, and the snapshot that shows it first. */
export interface HistoryEvent {
  /**
   * `appeared` in the first snapshot that holds it; `renamed` when the title changed, whatever else
   * did; `unreadable` when no copy of the snapshot's file is sound, so that nothing is known.
   */
  readonly kind: 'appeared' | 'changed' | 'renamed' | 'disappeared' | 'returned' | 'unreadable'
  readonly snapshot: string
  readonly takenAt: Date
  /** Whether the snapshot is suspect: what vanished in it may never have been gone. */
  readonly suspect: boolean
  /** The version before; for `returned` the one before it went. */
  readonly before?: StoredHit | undefined
  readonly after?: StoredHit | undefined
  /** Why nothing is known. */
  readonly problem?: string
}

interface Version {
  readonly hit: StoredHit
  readonly stable: Buffer
}

/**
 * Follows one object through all snapshots of its account, oldest first, holding two versions at a
 * time. Touches do not count. Reads one export for each stretch of the type, or another copy of it
 * when that is damaged; `onUnreadable` is told of each damaged copy.
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
  /** Undefined when the object is not there. */
  readonly version?: Version | undefined
  /** Why nothing is known: no copy of the file is sound. */
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
