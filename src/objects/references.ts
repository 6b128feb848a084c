import { asJsonObject, type JsonObject, parseIn, textIn } from './lossless-json.ts'
import type { Reference, SavedObject } from './saved-object.ts'

/** Type of index patterns. Searches need them, but no export contains them. */
export const indexPatternType = 'index-pattern'

/** What an object needs to be shown. */
export interface ObjectNeeds {
  /**
   * Every object it needs: first those in `references`, then those of old-style ids, with the names
   * that Kibana 7 gives them. Names are unique.
   */
  readonly references: readonly Reference[]
  /** Names that the object uses but `references` lacks. */
  readonly unexplained: readonly string[]
}

/**
 * Finds the objects that an object needs, in all known forms: ids in `panelsJSON` (dashboard),
 * `savedSearchId` (visualization), `index` and `filter[].meta.index` in `searchSourceJSON`, and
 * `indexPattern` of input controls; also the newer `panelRefName`, `savedSearchRefName`, `indexRefName`
 * and `indexPatternRefName` with `references`. Ignores nested text that cannot be parsed.
 */
export function findNeeds(object: SavedObject): ObjectNeeds {
  const collector = createCollector(object.references)
  collectPanels(object.attributes, collector)
  collectSavedSearch(object.attributes, collector)
  collectIndexPatterns(object.attributes, collector)
  collectControls(object.attributes, collector)
  return collector
}

interface Collector extends ObjectNeeds {
  /** Adds an old-style id. */
  add(reference: Reference): void
  /** Records that `references` must have one of these names. */
  expect(...names: string[]): void
}

function createCollector(given: readonly Reference[]): Collector {
  const references = [...given]
  const unexplained: string[] = []
  return {
    references,
    unexplained,
    add({ name, type, id }) {
      if (references.some((other) => other.type === type && other.id === id)) return
      const taken = new Set(references.map((other) => other.name))
      let free = name
      while (taken.has(free)) free += '_'
      references.push({ name: free, type, id })
    },
    expect(...names) {
      if (given.some(({ name }) => names.includes(name))) return
      unexplained.push(names[0] as string)
    },
  }
}

function collectPanels(attributes: JsonObject, { add, expect }: Collector): void {
  const panels = parseIn(attributes, 'panelsJSON')
  if (!Array.isArray(panels)) return
  for (const [index, item] of panels.entries()) {
    const panel = asJsonObject(item)
    const [type, id] = [textIn(panel, 'type'), textIn(panel, 'id')]
    const refName = textIn(panel, 'panelRefName')
    if (refName !== undefined) expect(refName, `${textIn(panel, 'panelIndex')}:${refName}`)
    else if (type !== undefined && id !== undefined) add({ name: `panel_${index}`, type, id })
  }
}

function collectSavedSearch(attributes: JsonObject, { add, expect }: Collector): void {
  const refName = textIn(attributes, 'savedSearchRefName')
  const id = textIn(attributes, 'savedSearchId')
  if (refName !== undefined) expect(refName)
  else if (id !== undefined) add({ name: 'search_0', type: 'search', id })
}

function collectIndexPatterns(attributes: JsonObject, collector: Collector): void {
  const prefix = 'kibanaSavedObjectMeta.searchSourceJSON'
  const meta = asJsonObject(attributes.get('kibanaSavedObjectMeta'))
  const source = asJsonObject(meta && parseIn(meta, 'searchSourceJSON'))
  collectIndexPattern(source, ['index', 'indexRefName'], `${prefix}.index`, collector)
  const filters = source?.get('filter')
  if (!Array.isArray(filters)) return
  for (const [number, filter] of filters.entries()) {
    const of = asJsonObject(asJsonObject(filter)?.get('meta'))
    const name = `${prefix}.filter[${number}].meta.index`
    collectIndexPattern(of, ['index', 'indexRefName'], name, collector)
  }
}

function collectControls(attributes: JsonObject, collector: Collector): void {
  const state = asJsonObject(parseIn(attributes, 'visState'))
  const controls = asJsonObject(state?.get('params'))?.get('controls')
  if (!Array.isArray(controls)) return
  for (const [number, control] of controls.entries()) {
    const members = ['indexPattern', 'indexPatternRefName'] as const
    const name = `control_${number}_index_pattern`
    collectIndexPattern(asJsonObject(control), members, name, collector)
  }
}

function collectIndexPattern(
  holder: JsonObject | undefined,
  [old, newer]: readonly [string, string],
  name: string,
  { add, expect }: Collector,
): void {
  const refName = textIn(holder, newer)
  const id = textIn(holder, old)
  if (refName !== undefined) expect(refName)
  else if (id !== undefined) add({ name, type: indexPatternType, id })
}
