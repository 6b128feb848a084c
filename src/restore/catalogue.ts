import { findNeeds, type ObjectNeeds } from '../objects/references.ts'
import { type ParsedObject, parseSavedObject } from '../objects/saved-object.ts'
import type { RestoreSource } from './source.ts'

/** What a restore knows of an object without holding it. */
export interface ObjectEntry extends ObjectNeeds {
  /** `<type>:<object id>`; empty when the hit names no id. */
  readonly id: string
  readonly title: string | undefined
  /** The type of the export it is in, and its place there, from 0. */
  readonly exportType: string
  readonly place: number
  /** Stands for the object's state; equal states are the same object. */
  readonly state: string
}

/** Says in what state an object is. */
export type StateOf = (object: ParsedObject, hit: Uint8Array) => string

/** Reads a source to its end, and so proves all of it. */
export async function readCatalogue(
  source: RestoreSource,
  stateOf: StateOf,
): Promise<ObjectEntry[]> {
  const entries: ObjectEntry[] = []
  for (const { type } of source.exports) {
    let place = 0
    for await (const hit of source.readHits(type)) {
      const object = parseSavedObject(hit, type)
      const { references, unexplained } = findNeeds(object)
      entries.push({
        id: object.id,
        title: object.title,
        exportType: type,
        place,
        state: stateOf(object, hit),
        references,
        unexplained,
      })
      place += 1
    }
  }
  return entries
}
