import { diffHits, type ObjectDiff } from '../objects/diff-objects.ts'
import type { PlannedObject, RestorePlan } from './plan.ts'
import { readChosen } from './read-chosen.ts'
import type { RestoreSource } from './source.ts'
import type { PresentState } from './target.ts'

/** What overwriting one object changes in the service. */
export interface Overwrite {
  readonly planned: PlannedObject
  /** From what the service holds to what is sent. */
  readonly diff: ObjectDiff
}

/**
 * Compares each object that a plan overwrites with what the service holds, as far as its hit was
 * kept (see `keepUnless` of `readPresent`), in the order of the source.
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
      yield { planned: planned.get(entry) as PlannedObject, diff: diffHits(before, hit, type) }
    }
  }
}
