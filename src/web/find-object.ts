import type { SnapshotSide } from '../archive/diff.ts'
import type { ReadOptions } from '../archive/read-objects.ts'
import { exportsOf, pickObjects } from '../archive/stored-export.ts'
import { splitId } from '../objects/object-id.ts'

/** An object as a snapshot holds it. */
export interface FoundObject {
  readonly id: string
  /** The type of the export that holds it. */
  readonly type: string
  readonly title: string | undefined
  /** The hit as received. */
  readonly bytes: Uint8Array
}

/** Reads one object by its whole id, looking first where its type is; undefined when it is not there. */
export async function readObject(
  { store, manifest }: SnapshotSide,
  { id, read }: { id: string; read: ReadOptions },
): Promise<FoundObject | undefined> {
  const ownType = splitId(id)?.type
  const exports = exportsOf(store, manifest)
  const ordered = exports.toSorted(
    (a, b) => Number(b.type === ownType) - Number(a.type === ownType),
  )
  for (const stored of ordered) {
    const { type } = stored
    const found = await pickObjects(
      stored,
      (object, hit): FoundObject | undefined =>
        object.id === id
          ? { id, type, title: object.title, bytes: Uint8Array.from(hit.bytes) }
          : undefined,
      read,
    )
    // Of hits with the same id the last counts.
    if (found?.length) return found.at(-1)
  }
  return undefined
}
