import { miscounted, type ObjectEntry } from './catalogue.ts'
import type { RestoreSource } from './source.ts'

/** A chosen object and the bytes of its hit. */
interface ChosenHit {
  readonly entry: ObjectEntry
  readonly hit: Uint8Array
}

/**
 * Yields the chosen objects of one export, in its order. Throws at the end when the source did not
 * yield all of them.
 */
export async function* readChosen(
  source: RestoreSource,
  type: string,
  objects: readonly ObjectEntry[],
): AsyncGenerator<ChosenHit> {
  const chosen = new Map(
    objects.filter(({ exportType }) => exportType === type).map((entry) => [entry.index, entry]),
  )
  if (chosen.size === 0) return
  let index = 0
  for await (const hit of source.readHits(type)) {
    const entry = chosen.get(index)
    index += 1
    if (entry === undefined) continue
    chosen.delete(index - 1)
    yield { entry, hit }
  }
  if (chosen.size > 0) throw miscounted(source, type, `${chosen.size} objects have disappeared`)
}
