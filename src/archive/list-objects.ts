// Tested by test/e2e/ls.test.ts

import { readUpdateTime } from '../objects/update-time.ts'
import { compareValues } from '../order.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Manifest } from './manifest.ts'
import { type ReadOptions, readObjects } from './read-objects.ts'

/** An object of a snapshot in a list. */
export interface ListedObject {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  readonly bytes: number
  /** Time of the last change according to the object; null when it has none. */
  readonly updatedAt: string | null
}

/** Lists the objects of one type, sorted by title and id. Throws as `readObjects` does. */
export async function listObjects(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  read: ReadOptions,
): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  for await (const { id, title, bytes } of readObjects(store, manifest, type, read)) {
    objects.push({ type, id, title, bytes: bytes.length, updatedAt: updateTimeOf(bytes) })
  }
  return objects.toSorted(
    (a, b) => compareValues(a.title ?? '', b.title ?? '') || compareValues(a.id, b.id),
  )
}

/** The time in `updated_at` or, in the oldest form, in `_updatedAt`. */
function updateTimeOf(bytes: Uint8Array): string | null {
  const { _source: source } = JSON.parse(Buffer.from(bytes).toString())
  return readUpdateTime(source?.updated_at ?? source?._updatedAt) ?? null
}
