// Tested by test/e2e/restore.test.ts

import { diffHits, type ObjectDiff } from '../objects/diff-objects.ts'
import type { PlannedObject, RestorePlan } from './plan.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'
import type { PresentState } from './target.ts'

/** What overwriting one object changes in the service. */
export interface Overwrite {
  readonly planned: PlannedObject
  /** The hit of the service. */
  readonly before: Uint8Array
  /** The hit of the source. */
  readonly after: Uint8Array
  /** From the object in the service to the object that is sent. */
  readonly diff: ObjectDiff
}

/**
 * Compares each object that a plan overwrites with the object in the service, in the order of the
 * source. Skips objects whose hits were not kept (see `keepUnless` of `readPresent`).
 */
export async function* readOverwrites(
  source: RestoreSource,
  { objects }: RestorePlan,
  { hits }: PresentState,
): AsyncGenerator<Overwrite> {
  const overwritten = objects.filter(
    ({ action, entry }) => action === 'overwrite' && hits.has(entry.id),
  )
  const planned = new Map(overwritten.map((one) => [one.entry, one]))
  for (const { type } of source.exports) {
    for await (const { entry, hit } of readChosen(source, type, [...planned.keys()])) {
      const before = hits.get(entry.id) as Uint8Array
      const diff = diffHits(before, hit, type)
      yield { planned: planned.get(entry) as PlannedObject, before, after: hit, diff }
    }
  }
}
