/** A number that JavaScript would write differently, such as `9007199254740993` or `1.10`. */
export class RawNumber {
  /** The number as it was written. */
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * A JSON object. It is a map, because a map keeps any order of members (objects put `"404"` before
 * `"a"`) and treats `__proto__` like any other member.
 */
export type JsonObject = Map<string, JsonValue>

/** Any JSON value, as `parseLossless` reads it. */
export type JsonValue = null | boolean | number | string | RawNumber | JsonValue[] | JsonObject

/** A value to write: of `parseLossless`, or made of plain objects and arrays. */
export type JsonDocument =
  | JsonValue
  | undefined
  | readonly JsonDocument[]
  | { readonly [name: string]: JsonDocument }

/** Deepest nesting that is read. */
const MAX_DEPTH = 2000

/**
 * Parses a JSON text. Keeps numbers, the order of members and lone surrogates exactly. Of members with
 * the same name, the last one counts, as for other JSON parsers. Throws a `SyntaxError` for text that is
 * not JSON, and for more than 2,000 levels.
 */
export function parseLossless(text: string): JsonValue {
  const cursor = createCursor(text)

  function readValue(depth: number): JsonValue {
    if (depth > MAX_DEPTH) cursor.fail()
    const first = cursor.next()
    if (first === '{') return readObject(depth)
    if (first === '[') return readArray(depth)
    if (first === '"') return cursor.readString()
    return cursor.readWord()
  }

  function readObject(depth: number): JsonObject {
    const members: JsonObject = new Map()
    cursor.skip()
    if (cursor.next() === '}') cursor.skip()
    else {
      do {
        if (cursor.next() !== '"') cursor.fail()
        const name = cursor.readString()
        if (cursor.next() !== ':') cursor.fail()
        cursor.skip()
        members.set(name, readValue(depth + 1))
      } while (goesOn('}'))
    }
    return members
  }

  function readArray(depth: number): JsonValue[] {
    const items: JsonValue[] = []
    cursor.skip()
    if (cursor.next() === ']') cursor.skip()
    else {
      do items.push(readValue(depth + 1))
      while (goesOn(']'))
    }
    return items
  }

  /** Skips a comma or the closing bracket. Returns whether it was a comma. */
  function goesOn(close: string): boolean {
    const character = cursor.next()
    if (character !== ',' && character !== close) cursor.fail()
    cursor.skip()
    return character === ','
  }

  const value = readValue(0)
  if (cursor.next() !== '') cursor.fail()
  return value
}

/** Reads the parts of a JSON text, one after the other. */
interface Cursor {
  fail(): never
  /** Skips white space. Returns the next character, empty at the end. */
  next(): string
  /** Skips one character. */
  skip(): void
  readString(): string
  /** Reads a number or a literal. */
  readWord(): JsonValue
}

function createCursor(text: string): Cursor {
  let at = 0

  function fail(): never {
    throw new SyntaxError(`no JSON at character ${at}`)
  }

  return {
    fail,
    next() {
      at = skipSpace(text, at)
      return text[at] ?? ''
    },
    skip() {
      at += 1
    },
    readString() {
      const start = at
      const end = stringEnd(text, start)
      if (end < 0) fail()
      at = end
      return JSON.parse(text.slice(start, end)) as string
    },
    readWord() {
      wordPattern.lastIndex = at
      const word = wordPattern.exec(text)?.[0]
      if (word === undefined) fail()
      at += word.length
      if (word in literals) return literals[word as keyof typeof literals]
      return readNumber(word)
    },
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1
  return at
}

/** The offset after the string whose first quote is at `start`; -1 when the string does not end. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return -1
}

function readNumber(word: string): number | RawNumber {
  const number = Number(word)
  return String(number) === word ? number : new RawNumber(word)
}

const wordPattern = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literals = { true: true, false: false, null: null }

/** As `parseLossless`, but returns undefined for invalid text. */
export function tryParseLossless(text: string): JsonValue | undefined {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}

/**
 * Writes a value as JSON text, as `JSON.stringify` does, with `indent` spaces per level. Leaves out
 * undefined members. A value of `parseLossless` gives the same text again, if that had no white space,
 * no unnecessary escapes and no repeated members.
 */
export function stringifyLossless(value: JsonDocument, indent = 0): string {
  return write(value, indent === 0 ? '' : '\n', ' '.repeat(indent))
}

function write(value: JsonDocument, newline: string, step: string): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null)
  if (value instanceof RawNumber) return value.text
  const inner = newline && newline + step
  if (Array.isArray(value)) {
    return enclose(
      '[',
      value.map((item) => write(item, inner, step)),
      ']',
      newline,
      step,
    )
  }
  const colon = newline === '' ? ':' : ': '
  const members = [...(value instanceof Map ? value : Object.entries(value))]
    .filter(([, item]) => item !== undefined)
    .map(([name, item]) => `${JSON.stringify(name)}${colon}${write(item, inner, step)}`)
  return enclose('{', members, '}', newline, step)
}

function enclose(
  open: string,
  parts: readonly string[],
  close: string,
  newline: string,
  step: string,
): string {
  if (newline === '' || parts.length === 0) return open + parts.join(',') + close
  return `${open}${newline}${step}${parts.join(`,${newline}${step}`)}${newline}${close}`
}

/** The value if it is a JSON object. */
export function asJsonObject(value: JsonValue | undefined): JsonObject | undefined {
  return value instanceof Map ? value : undefined
}

/** The value if it is text. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The text of a member, unless it is empty. */
export function textIn(holder: JsonObject | undefined, member: string): string | undefined {
  return asText(holder?.get(member)) || undefined
}

/** The value of JSON text in a member; undefined when there is none that can be parsed. */
export function parseIn(holder: JsonObject, member: string): JsonValue | undefined {
  const text = asText(holder.get(member))
  return text === undefined ? undefined : tryParseLossless(text)
}

/** Whether two values are equal. Ignores the order of members. Compares numbers as written. */
export function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (a instanceof RawNumber && b instanceof RawNumber) return a.text === b.text
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalJson(item, b[index]))
  }
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([name, item]) => equalJson(item, b.get(name)))
  }
  return false
}
