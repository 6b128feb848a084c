// Tested by test/e2e/restore.test.ts

import type { Manifest } from '../archive/manifest.ts'
import { readCatalogue } from './catalogue.ts'
import { chooseObjects, type Selection } from './choose.ts'
import type { RestoreSource } from './source.ts'
import { sameObject } from './target.ts'

/** The source of a restore and the chosen objects. */
export interface Restoring {
  readonly source: RestoreSource
  /** The snapshot's manifest; undefined for a folder. */
  readonly manifest: Manifest | undefined
  readonly selection: Selection
}

/** Reads a source to its end and chooses objects of it. Without names, chooses all of them. */
export async function chooseFrom(
  source: RestoreSource,
  manifest: Manifest | undefined,
  choice: { names: readonly string[] | undefined; withNeeds: boolean },
): Promise<Restoring> {
  const catalogue = await readCatalogue(source, sameObject)
  return { source, manifest, selection: chooseObjects(source, catalogue, choice) }
}
