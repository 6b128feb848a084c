import type { ObjectEntry } from './catalogue.ts'
import type { RestoreSource } from './source.ts'

/** A chosen object with its hit's own bytes. */
export interface ChosenHit {
  readonly entry: ObjectEntry
  readonly hit: Uint8Array
}

/** Yields the chosen objects of one export, in its order. */
export async function* readChosen(
  source: RestoreSource,
  type: string,
  objects: readonly ObjectEntry[],
): AsyncGenerator<ChosenHit> {
  const chosen = new Map(
    objects.filter(({ exportType }) => exportType === type).map((entry) => [entry.place, entry]),
  )
  if (chosen.size === 0) return
  let place = 0
  for await (const hit of source.readHits(type)) {
    const entry = chosen.get(place)
    place += 1
    if (entry !== undefined) yield { entry, hit }
  }
}
