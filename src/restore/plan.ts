import { DashkeepError } from '../errors.ts'
import type { ObjectEntry } from './catalogue.ts'
import type { MissingObject, Selection } from './choose.ts'
import type { RestoreSource } from './source.ts'
import type { PresentState } from './target.ts'

/**
 * What a restore does with an object:
 * - `create`: the service does not have it.
 * - `overwrite`: the service has another state of it, and it may be overwritten.
 * - `leave`: the service has another state of it, which stays.
 * - `same`: the service has it just so.
 */
export type RestoreAction = 'create' | 'overwrite' | 'leave' | 'same'

/** What becomes of one object. */
export interface PlannedObject {
  readonly entry: ObjectEntry
  readonly action: RestoreAction
}

/** What a restore to the service is going to do. */
export interface RestorePlan {
  readonly objects: readonly PlannedObject[]
  /** What is needed and neither in the source nor, of the types it has, in the service. */
  readonly missing: readonly MissingObject[]
}

/**
 * Compares what is chosen with what the service holds. Of several objects with the same id the last
 * one counts. Pure: sends nothing.
 */
export function planRestore(
  { objects, missing }: Selection,
  { states }: Pick<PresentState, 'states'>,
  { overwrite = false }: { overwrite?: boolean | undefined } = {},
): RestorePlan {
  const last = new Map(objects.map((entry) => [entry.id, entry]))
  const planned = [...last.values()].map((entry): PlannedObject => {
    const present = states.get(entry.id)
    if (present === undefined) return { entry, action: 'create' }
    if (present === entry.state) return { entry, action: 'same' }
    return { entry, action: overwrite ? 'overwrite' : 'leave' }
  })
  return {
    objects: planned,
    missing: missing.filter(({ type, objectId }) => !states.has(`${type}:${objectId}`)),
  }
}

/** Objects that a plan sends. */
export function objectsToSend({ objects }: RestorePlan): PlannedObject[] {
  return objects.filter(({ action }) => action === 'create' || action === 'overwrite')
}

/** Throws a `usage` error when the service is of another kibanaVersion than what is to be sent. */
export function refuseOtherVersions(
  source: RestoreSource,
  { objects }: Selection,
  { kibanaVersions }: PresentState,
): void {
  const types = new Set(objects.map(({ exportType }) => exportType))
  for (const { type, kibanaVersion } of source.exports) {
    const present = kibanaVersions.get(type)
    if (!types.has(type) || present === undefined || present === kibanaVersion) continue
    throw new DashkeepError(
      `Cannot restore ${type}: ${source.label} is of kibanaVersion ${kibanaVersion}, the service of ${present}`,
      {
        kind: 'usage',
        hint: 'with --any-version they are sent as objects of its version; --ndjson writes a file whose import brings them up to date',
      },
    )
  }
}
