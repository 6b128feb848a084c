import { asJsonObject, asText, tryParseLossless } from './lossless-json.ts'
import type { SavedObject } from './saved-object.ts'

/** Types of visualizations whose own language names indexes, and the parameter that contains its text. */
const languages: ReadonlyMap<string, string> = new Map([
  ['timelion', 'expression'],
  ['vega', 'spec'],
])

/**
 * Whether an object names an index in text that people write in a language of its own: the expression of
 * a Timelion visualization, or the specification of a Vega visualization.
 */
export function namesIndexInText({ attributes }: SavedObject): boolean {
  const state = asJsonObject(tryParseLossless(asText(attributes.get('visState')) ?? ''))
  const member = languages.get(asText(state?.get('type')) ?? '')
  if (member === undefined) return false
  const text = asText(asJsonObject(state?.get('params'))?.get(member)) ?? ''
  return /\bindex["']?\s*[=:]/.test(text)
}
