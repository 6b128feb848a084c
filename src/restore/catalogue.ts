import { createHeapBudget } from '../archive/heap-budget.ts'
import { DashkeepError } from '../errors.ts'
import { findNeeds, type ObjectNeeds } from '../objects/references.ts'
import { parseSavedObject, type SavedObject } from '../objects/saved-object.ts'
import type { RestoreSource } from './source.ts'

/** The facts about an object that a restore keeps in memory. */
export interface ObjectEntry extends ObjectNeeds {
  /** `<type>:<object id>`; empty when the hit has no id. */
  readonly id: string
  readonly title: string | undefined
  /** The type of its export, and its index there, from 0. */
  readonly exportType: string
  readonly index: number
  /** Digest of the object's content. Equal objects have equal states. */
  readonly state: string
  /** The object of the source that a promotion changed into this one. */
  readonly from?: { readonly id: string; readonly title: string | undefined } | undefined
}

/** Computes the state of an object. */
export type StateOf = (object: SavedObject, hit: Uint8Array) => string

/**
 * Reads a source to its end, which proves all of it. Throws an `unverified` error when the number of
 * objects differs from the expected one, and an error when they need too much memory.
 */
export async function readCatalogue(
  source: RestoreSource,
  stateOf: StateOf,
): Promise<ObjectEntry[]> {
  const entries: ObjectEntry[] = []
  const budget = createHeapBudget(`restore ${source.label}`)
  for (const { type, objects } of source.exports) {
    let index = 0
    for await (const hit of source.readHits(type)) {
      const object = parseSavedObject(hit, type)
      const entry = toEntry(object, { exportType: type, index, state: stateOf(object, hit) })
      const needs = entry.references.flatMap(({ type, id }) => [type, id])
      budget.hold(object.id, object.title, ...needs, ...entry.unexplained)
      budget.check()
      entries.push(entry)
      index += 1
    }
    if (index !== objects)
      throw miscounted(source, type, `${index} of ${objects} objects were read`)
  }
  return entries
}

/** The facts about an object at its place in the source. */
export function toEntry(
  object: SavedObject,
  place: Pick<ObjectEntry, 'exportType' | 'index' | 'state'>,
): ObjectEntry {
  const { references, unexplained } = findNeeds(object)
  return { id: object.id, title: object.title, ...place, references, unexplained }
}

/** The error for a source that does not yield all of its objects. */
export function miscounted({ label }: RestoreSource, type: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot read all objects of type ${type} from ${label}: ${state}`, {
    kind: 'unverified',
    hint: 'run the command again; if the error stays and nobody writes to the source, it is a bug of dashkeep',
  })
}
