import type { Manifest } from '../archive/manifest.ts'
import type { PatternKey } from '../objects/rewrite-object.ts'
import { readCatalogue } from './catalogue.ts'
import { chooseObjects, type Selection } from './choose.ts'
import type { RestoreSource } from './source.ts'
import { sameObject } from './target.ts'

/** An index pattern that promoted objects use. */
export interface PromotedPattern {
  /** Its id or name in the source, and in the target. */
  readonly from: string
  readonly to: string
  readonly by: PatternKey
  readonly isMapped: boolean
  /** Ids of the objects of the source that use it. */
  readonly neededBy: readonly string[]
}

/** What a promotion changes in addition to ids and titles, and what it cannot change. */
export interface PromotedParts {
  readonly patterns: readonly PromotedPattern[]
  /** Ids in the target of objects whose own text names an index. That text stays as it is. */
  readonly ownTexts: readonly string[]
}

/** The source of a restore and the chosen objects. */
export interface Restoring {
  readonly source: RestoreSource
  /** The snapshot's manifest; undefined for a folder. */
  readonly manifest: Manifest | undefined
  readonly selection: Selection
  /** What a promotion changes; undefined when the objects are restored as they are. */
  readonly promoted?: PromotedParts | undefined
}

/** Objects chosen for a promotion. */
export interface ChosenRestoring extends Restoring {
  /** The ids of all objects of the source, also of those that are not chosen. */
  readonly ids: ReadonlySet<string>
}

/** The objects to choose. Without names, all of them. */
interface Choice {
  readonly names: readonly string[] | undefined
  readonly withNeeds: boolean
}

/** Reads a source to its end and chooses objects of it. Keeps only the chosen ones in memory. */
export async function chooseFrom(
  source: RestoreSource,
  manifest: Manifest | undefined,
  choice: Choice,
): Promise<Restoring> {
  const entries = await readCatalogue(source, sameObject)
  return { source, manifest, selection: chooseObjects(source, entries, choice) }
}

/** As `chooseFrom`, but also keeps the ids of all objects, because a promotion renames references to them. */
export async function chooseToPromote(
  source: RestoreSource,
  manifest: Manifest | undefined,
  choice: Choice,
): Promise<ChosenRestoring> {
  const entries = await readCatalogue(source, sameObject)
  const ids = new Set(entries.map(({ id }) => id))
  return { source, manifest, selection: chooseObjects(source, entries, choice), ids }
}
