import { asJsonObject, type JsonObject, type JsonValue, tryParseLossless } from './lossless-json.ts'
import { touchMembers, unstableHitMembers } from './unstable-members.ts'

/**
 * Members whose text contains a JSON object or array: those of the specification ("Saved object by
 * type"), and those of newer services. Text that people write themselves, such as the `spec` of a Vega
 * visualization, is not listed and stays text.
 */
export const nestedMembers: ReadonlySet<string> = new Set([
  'visState',
  'panelsJSON',
  'searchSourceJSON',
  'optionsJSON',
  'uiStateJSON',
  'ignoreParentSettingsJSON',
  'layerListJSON',
  'mapStateJSON',
])

/**
 * Copies a value with its nested JSON text parsed, at any depth. Text that is not a JSON object or array
 * stays text.
 */
export function openNested(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(openNested)
  if (!(value instanceof Map)) return value
  return openMembers(value)
}

function openMembers(object: JsonObject): JsonObject {
  const opened: JsonObject = new Map()
  for (const [name, value] of object) {
    const nested = nestedMembers.has(name) && typeof value === 'string' ? readNested(value) : value
    opened.set(name, openNested(nested))
  }
  return opened
}

function readNested(text: string): JsonValue {
  const value = tryParseLossless(text)
  return Array.isArray(value) || asJsonObject(value) !== undefined ? (value as JsonValue) : text
}

/**
 * Copies a hit for a comparison: with nested JSON parsed, and without the members that a contentDigest
 * ignores (`_index`, `_score`; `updated_at`, `version` and `_updatedAt` of `_source`).
 */
export function comparableView(hit: JsonObject): JsonObject {
  const view: JsonObject = new Map()
  for (const [name, value] of hit) {
    if (unstableHitMembers.includes(name)) continue
    const source = name === '_source' ? asJsonObject(value) : undefined
    view.set(name, source ? without(source, touchMembers) : value)
  }
  return openMembers(view)
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return new Map([...object].filter(([name]) => !names.includes(name)))
}
