import { describeObject, noneFits, severalFit } from '../archive/find.ts'
import { createNearest, createObjectQuery } from '../objects/match-object.ts'
import { indexPatternType } from '../objects/references.ts'
import type { ObjectEntry } from './catalogue.ts'
import type { RestoreSource } from './source.ts'

/** An object that chosen objects need but the source lacks. */
export interface MissingObject {
  readonly type: string
  readonly objectId: string
  /** Ids of the chosen objects that need it. */
  readonly neededBy: readonly string[]
}

/** The objects to restore, and the objects that they need. */
export interface Selection {
  /** Whether all objects of the source are chosen. */
  readonly whole: boolean
  /** In the order of the source. */
  readonly objects: readonly ObjectEntry[]
  /** Number of objects that were not named but are needed by others. */
  readonly added: number
  /** Needed objects of the types the source has. */
  readonly missing: readonly MissingObject[]
  /** Index patterns, which an export cannot contain. */
  readonly indexPatterns: readonly MissingObject[]
  /** Needed objects of other types that the source does not have, such as tags. */
  readonly others: readonly MissingObject[]
  /** Objects that use names that their `references` lack. */
  readonly unexplained: readonly { readonly id: string; readonly names: readonly string[] }[]
}

/**
 * Chooses objects by `<type>:<object id>`, title or glob; all of them when nothing is named. What they
 * need comes with them, and what that needs, unless `withNeeds` is false. Throws a `usage` error
 * for a name that no object has, or that several have.
 */
export function chooseObjects(
  source: Pick<RestoreSource, 'label' | 'exports'>,
  objects: readonly ObjectEntry[],
  { names, withNeeds = true }: { names?: readonly string[] | undefined; withNeeds?: boolean },
): Selection {
  const byId = new Map(objects.map((object) => [object.id, object]))
  const named =
    names?.flatMap((name) => byId.get(name) ?? findObjects(source, byId.values(), name)) ?? objects
  const chosen = new Set(named)
  if (withNeeds) {
    for (const object of chosen) {
      for (const { type, id } of object.references) {
        const needed = byId.get(`${type}:${id}`)
        if (needed !== undefined) chosen.add(needed)
      }
    }
  }
  const inOrder = objects.filter((object) => chosen.has(object))
  const added = inOrder.length - new Set(named).size
  return describeSelection(source, inOrder, { whole: names === undefined, added, known: objects })
}

/**
 * Describes chosen objects and the other objects that they need. `known` are the objects that are not
 * listed as missing.
 */
export function describeSelection(
  source: Pick<RestoreSource, 'exports'>,
  objects: readonly ObjectEntry[],
  {
    whole,
    added,
    known,
  }: { whole: boolean; added: number; known: readonly Pick<ObjectEntry, 'id'>[] },
): Selection {
  const absent = findAbsent(objects, new Set(known.map(({ id }) => id)))
  const types = new Set(source.exports.map(({ type }) => type))
  return {
    whole,
    objects,
    added,
    missing: absent.filter(({ type }) => types.has(type)),
    indexPatterns: absent.filter(({ type }) => type === indexPatternType && !types.has(type)),
    others: absent.filter(({ type }) => type !== indexPatternType && !types.has(type)),
    unexplained: objects.flatMap(({ id, unexplained }) =>
      unexplained.length > 0 ? [{ id, names: unexplained }] : [],
    ),
  }
}

function findAbsent(objects: readonly ObjectEntry[], known: ReadonlySet<string>): MissingObject[] {
  const absent = new Map<string, Omit<MissingObject, 'neededBy'> & { neededBy: Set<string> }>()
  for (const object of objects) {
    for (const { type, id: objectId } of object.references) {
      const id = `${type}:${objectId}`
      if (known.has(id)) continue
      const entry = absent.get(id) ?? { type, objectId, neededBy: new Set<string>() }
      entry.neededBy.add(object.id)
      absent.set(id, entry)
    }
  }
  return [...absent.values()].map((entry) => ({ ...entry, neededBy: [...entry.neededBy] }))
}

/**
 * Finds the objects that a name means: all that match a glob, or the one that matches best by id, title
 * or a part of them. Of objects with the same id, the last one counts, as in the service.
 */
function findObjects(
  { label }: Pick<RestoreSource, 'label'>,
  objects: Iterable<ObjectEntry>,
  name: string,
): ObjectEntry[] {
  const query = createObjectQuery(name)
  const nearest = createNearest(name)
  let found: ObjectEntry[] = []
  let best = Number.POSITIVE_INFINITY
  for (const object of objects) {
    const rank = query.rank(object) ?? Number.POSITIVE_INFINITY
    if (rank < best) found = []
    best = Math.min(best, rank)
    if (rank === best && Number.isFinite(rank)) found.push(object)
    for (const text of [object.id, object.title ?? '']) nearest.see(describeObject(object), text)
  }
  if (found.length === 1 || (found.length > 0 && isGlob(name, found))) return found
  const where = ` of ${label}`
  if (found.length > 1) throw severalFit(name, found, { where })
  throw noneFits(name, nearest.labels(), { where })
}

/** A name with a star is a glob, unless it is an id or a title itself. */
function isGlob(name: string, found: readonly ObjectEntry[]): boolean {
  return /[*?]/.test(name) && found.every(({ id, title }) => id !== name && title !== name)
}
