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

/** What stands in for the unstable members of a hit. */
const envelope: JsonObject = new Map<string, JsonValue>([
  ['_index', '.kibana'],
  ['_score', 1],
])

/** The deepest indentation that nested text is recognised with. */
const MAX_INDENT = 4

/**
 * Writes a hit as a file for people and for git: indented, nested JSON text opened up, without
 * `_index` and `_score`. `closeFile` gives back a hit with the same stable bytes.
 *
 * The file says in `nested` which members are text in the hit, by JSON pointer (RFC 6901), and with
 * how many spaces that text is indented. Nested text that this does not give back stays text, and a
 * hit that is written in an unusual way stays whole, as `text` or, when it is not UTF-8, `base64`.
 */
export function openFile(hit: Uint8Array): string {
  return `${stringifyLossless(new Map<string, JsonValue>(openHit(hit)), 2)}\n`
}

function openHit(hit: Uint8Array): [string, JsonValue][] {
  const bytes = Buffer.from(hit.buffer, hit.byteOffset, hit.byteLength)
  if (!isUtf8(bytes)) return [['base64', bytes.toString('base64')]]
  const text = bytes.toString()
  const value = asJsonObject(parseLossless(text))
  if (value === undefined || stringifyLossless(value) !== text) return [['text', text]]
  const members = new Map([...value].filter(([name]) => !unstableHitMembers.includes(name)))
  const nested: JsonObject = new Map()
  return [
    ['hit', opened(members, '', nested)],
    ['nested', nested],
  ]
}

/** A copy of the value with its nested text opened; `nested` takes where that was, and its style. */
function opened(value: JsonValue, pointer: string, nested: JsonObject): JsonValue {
  const below = (name: string | number) =>
    `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (Array.isArray(value)) return value.map((item, place) => opened(item, below(place), nested))
  if (!(value instanceof Map)) return value
  const copy: JsonObject = new Map()
  for (const [name, item] of value) {
    const found = nestedMembers.has(name) && typeof item === 'string' ? readNested(item) : undefined
    if (found !== undefined) nested.set(below(name), found.indent)
    copy.set(name, opened(found?.value ?? item, below(name), nested))
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

/** Reads what `openFile` wrote, edited or not, as a hit. Throws a `SyntaxError` for anything else. */
export function closeFile(text: string): Uint8Array {
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
  // What lies deeper is closed first: text within text.
  const places = [...nested].sort(([a], [b]) => b.length - a.length)
  for (const [pointer, indent] of places) closeAt(hit, pointer, Number(indent))
  return Buffer.from(stringifyLossless(new Map([...envelope, ...hit])))
}

/** A place that an edit took away, or made text, is left as it is. */
function closeAt(hit: JsonObject, pointer: string, indent: number): void {
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
