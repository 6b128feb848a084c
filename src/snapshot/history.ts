import { DashkeepError } from '../errors.ts'
import { stableBytes } from './content-digest.ts'
import { type ReadOptions, type StoredHit, scanObjects } from './read-objects.ts'
import type { Stretch, Timeline } from './timeline.ts'

/** Something that happened to an object, and the snapshot that shows it first. */
export interface HistoryEvent {
  /**
   * `appeared` in the first snapshot that holds it; `renamed` when the title changed, whatever else
   * did; `unreadable` when the snapshot's file cannot be read, so that nothing is known.
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
 * time. Touches do not count. Reads one export for each stretch of the type.
 */
export async function* readHistory(
  timeline: Timeline,
  { id, type }: { id: string; type: string },
  options: ReadOptions = {},
): AsyncGenerator<HistoryEvent> {
  let present = false
  let latest: Version | undefined
  for (const stretch of timeline.stretches(type)) {
    const { snapshot, takenAt, suspect } = stretch.manifest
    const event = { snapshot, takenAt: new Date(takenAt), suspect: suspect !== undefined }
    const version = await readVersion(stretch, id, options)
    if (version instanceof DashkeepError) {
      yield { ...event, kind: 'unreadable', problem: version.message }
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

/** The object's version, undefined when it is not there, or why the file cannot be read. */
async function readVersion(
  { store, manifest, type }: Stretch,
  id: string,
  options: ReadOptions,
): Promise<Version | DashkeepError | undefined> {
  let version: Version | undefined
  try {
    await scanObjects(store, manifest, type, {
      ...options,
      onObject(object, hit) {
        if (object.id !== id) return
        const bytes = Uint8Array.from(hit.bytes)
        version = {
          hit: { id, title: object.title, bytes },
          stable: Buffer.from(stableBytes(hit)),
        }
      },
    })
    return version
  } catch (error) {
    if (error instanceof DashkeepError && error.kind === 'unverified') return error
    throw error
  }
}
