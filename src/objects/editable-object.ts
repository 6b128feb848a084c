import { isUtf8 } from 'node:buffer'
import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  parseLossless,
  stringifyLossless,
  tryParseLossless,
} from './lossless-json.ts'
import { nestedMembers } from './open-nested.ts'
import { unstableHitMembers } from './unstable-members.ts'

/** Replaces the unstable members of a hit. */
const envelope: JsonObject = new Map<string, JsonValue>([
  ['_index', '.kibana'],
  ['_score', 1],
])

/** Largest indentation of nested text, in spaces, that is recognised. */
const MAX_INDENT = 4

/**
 * Converts a hit to a file that people can edit and git can compare: indented, with nested JSON text
 * parsed, without `_index` and `_score`. `fromEditable` returns a hit with the same stable bytes.
 *
 * The member `nested` lists the members that are text in the hit, by JSON pointer (RFC 6901), each
 * with the indentation of its text. Nested text that cannot be restored byte for byte stays text. A
 * hit in an unusual notation is kept whole, as `text`, or as `base64` when it is not UTF-8.
 */
export function toEditable(hit: Uint8Array): string {
  return `${stringifyLossless(new Map<string, JsonValue>(editableMembers(hit)), 2)}\n`
}

function editableMembers(hit: Uint8Array): [string, JsonValue][] {
  const bytes = Buffer.from(hit.buffer, hit.byteOffset, hit.byteLength)
  if (!isUtf8(bytes)) return [['base64', bytes.toString('base64')]]
  const text = bytes.toString()
  const value = asJsonObject(parseLossless(text))
  if (value === undefined || stringifyLossless(value) !== text) return [['text', text]]
  const members = new Map([...value].filter(([name]) => !unstableHitMembers.includes(name)))
  const nested: JsonObject = new Map()
  return [
    ['hit', unfold(members, '', nested)],
    ['nested', nested],
  ]
}

/** Copies the value with its nested text parsed. Adds the pointer and indentation of each to `nested`. */
function unfold(value: JsonValue, pointer: string, nested: JsonObject): JsonValue {
  const below = (name: string | number) =>
    `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (Array.isArray(value)) return value.map((item, index) => unfold(item, below(index), nested))
  if (!(value instanceof Map)) return value
  const copy: JsonObject = new Map()
  for (const [name, item] of value) {
    const found = nestedMembers.has(name) && typeof item === 'string' ? readNested(item) : undefined
    if (found !== undefined) nested.set(below(name), found.indent)
    copy.set(name, unfold(found?.value ?? item, below(name), nested))
  }
  return copy
}

function readNested(text: string): { value: JsonValue; indent: number } | undefined {
  if (!/^[[{]/.test(text)) return undefined
  const value = tryParseLossless(text)
  if (value === undefined) return undefined
  for (let indent = 0; indent <= MAX_INDENT; indent += 1) {
    if (stringifyLossless(value, indent) === text) return { value, indent }
  }
  return undefined
}

/** Converts a file of `toEditable`, edited or not, to a hit. Throws a `SyntaxError` for other text. */
export function fromEditable(text: string): Uint8Array {
  const file = asJsonObject(parseLossless(text))
  const whole = asText(file?.get('text'))
  if (whole !== undefined) return Buffer.from(whole)
  const base64 = asText(file?.get('base64'))
  if (base64 !== undefined) return Buffer.from(base64, 'base64')
  const hit = asJsonObject(file?.get('hit'))
  const nested = asJsonObject(file?.get('nested'))
  if (hit === undefined || nested === undefined) {
    throw new SyntaxError('it has no members hit and nested')
  }
  // The deepest first, since text can hold text.
  const pointers = [...nested].sort(([a], [b]) => b.length - a.length)
  for (const [pointer, indent] of pointers) foldAt(hit, pointer, Number(indent))
  return Buffer.from(stringifyLossless(new Map([...envelope, ...hit])))
}

/** Writes a value as text again. Does nothing when an edit removed the value or made it text. */
function foldAt(hit: JsonObject, pointer: string, indent: number): void {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = names.pop() ?? ''
  let holder: JsonValue | undefined = hit
  for (const name of names) holder = Array.isArray(holder) ? holder[+name] : memberOf(holder, name)
  const value = memberOf(holder, last)
  if (value === undefined || typeof value === 'string') return
  asJsonObject(holder)?.set(last, stringifyLossless(value, indent))
}

function memberOf(holder: JsonValue | undefined, name: string): JsonValue | undefined {
  return asJsonObject(holder)?.get(name)
}
