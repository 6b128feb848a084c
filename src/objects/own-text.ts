import { asJsonObject, asText, type JsonObject, type JsonValue, parseIn } from './lossless-json.ts'
import type { SavedObject } from './saved-object.ts'

/** Types of visualizations whose own language names indexes, and the parameter that contains its text. */
const languages: ReadonlyMap<string, string> = new Map([
  ['timelion', 'expression'],
  ['vega', 'spec'],
])

/**
 * Whether an object names an index in text that people write in a language of its own: the expression of
 * a Timelion visualization, or the specification of a Vega visualization. Also finds such visualizations
 * in the panels of a dashboard that contain theirs.
 */
export function namesIndexInText({ attributes }: SavedObject): boolean {
  return stateNamesIndex(parseIn(attributes, 'visState')) || panelsNameIndex(attributes)
}

function panelsNameIndex(attributes: JsonObject): boolean {
  const panels = parseIn(attributes, 'panelsJSON')
  if (!Array.isArray(panels)) return false
  return panels.some((panel) => {
    const config = asJsonObject(asJsonObject(panel)?.get('embeddableConfig'))
    return stateNamesIndex(config?.get('savedVis'))
  })
}

/** Whether the state of a visualization contains text in a language of its own that names an index. */
function stateNamesIndex(value: JsonValue | undefined): boolean {
  const state = asJsonObject(value)
  const member = languages.get(asText(state?.get('type')) ?? '')
  if (member === undefined) return false
  const text = asText(asJsonObject(state?.get('params'))?.get(member)) ?? ''
  return /\bindex["']?\s*[=:]/.test(text)
}
