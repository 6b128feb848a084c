// Tested by test/e2e/ls.test.ts

import type { RawHit } from '../export/export-scanner.ts'
import { asObject, findMembers, memberName, parsedValue, THE_HIT } from '../export/hit-members.ts'
import { readUpdateTime } from '../objects/update-time.ts'
import { compareValues } from '../order.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Manifest } from './manifest.ts'
import { type ReadOptions, scanObjects } from './read-objects.ts'

const SOURCE = [memberName('_source')] as const
/** In the oldest form of a hit, the name of the member begins with an underscore. */
const TIMES = [memberName('updated_at'), memberName('_updatedAt')] as const

/** An object of a snapshot in a list. */
export interface ListedObject {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  readonly bytes: number
  /** Time of the last change according to the object; null when it has none. */
  readonly updatedAt: string | null
}

/** Lists the objects of one type, sorted by title and id. Throws as `scanObjects` does. */
export async function listObjects(
  store: ObjectStore,
  manifest: Manifest,
  type: string,
  read: ReadOptions,
): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  await scanObjects(store, manifest, type, {
    ...read,
    onObject({ id, title }, hit) {
      objects.push({ type, id, title, bytes: hit.bytes.length, updatedAt: updateTimeOf(hit) })
    },
  })
  return objects.toSorted(
    (a, b) => compareValues(a.title ?? '', b.title ?? '') || compareValues(a.id, b.id),
  )
}

/** The time of the last change according to the object; null when it has none. */
function updateTimeOf(hit: RawHit): string | null {
  const source = findMembers(hit, THE_HIT, SOURCE)[0]
  const times = findMembers(hit, asObject(hit, source), TIMES)
  return readUpdateTime(parsedValue(hit, times[0]) ?? parsedValue(hit, times[1])) ?? null
}
