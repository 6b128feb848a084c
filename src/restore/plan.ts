import { DashkeepError } from '../errors.ts'
import type { ObjectEntry } from './catalogue.ts'
import type { MissingObject, Selection } from './choose.ts'
import type { RestoreSource } from './source.ts'
import type { PresentState } from './target.ts'

/**
 * What a restore does with an object:
 * - `create`: the service does not have it.
 * - `overwrite`: the service has it in another state, which is replaced.
 * - `leave`: the service has it in another state, which stays.
 * - `same`: the service has it in the same state.
 */
export type RestoreAction = 'create' | 'overwrite' | 'leave' | 'same'

/** An object and what a restore does with it. */
export interface PlannedObject {
  readonly entry: ObjectEntry
  readonly action: RestoreAction
}

/** The plan of a restore to the service. */
export interface RestorePlan {
  readonly objects: readonly PlannedObject[]
  /** Needed objects, of types that the source has, that neither source nor service has. */
  readonly missing: readonly MissingObject[]
}

/**
 * Compares the chosen objects with those in the service. Of several objects with the same id, the last
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

/** Throws a `usage` error when the kibanaVersion of the service and of the source differ. */
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
        hint: 'add --any-version to send the objects unchanged, or write a file with --ndjson: Kibana converts it on import',
      },
    )
  }
}
