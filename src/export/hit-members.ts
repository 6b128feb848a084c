import {
  BACKSLASH,
  LETTER_F,
  LETTER_N,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  ZERO,
} from './ascii.ts'
import type { RawHit } from './export-scanner.ts'
import { MEMBER, MEMBER_SIZE } from './hit-reader.ts'

/** In place of a member: the hit itself, as the object whose members are meant. */
export const THE_HIT = -1

/** No such member. */
export const NO_MEMBER = -2

/** A name of a member, prepared for the search. */
export interface MemberName {
  readonly text: string
  /** The bytes of the name with quotes and without escapes. */
  readonly key: Uint8Array
}

/** Encodes a name once, so that it can be searched for in many hits. */
export function memberName(text: string): MemberName {
  return { text, key: Buffer.from(JSON.stringify(text)) }
}

/** One index for each name. */
type Places<Names extends readonly MemberName[]> = { -readonly [Place in keyof Names]: number }

/**
 * Finds members of an object of the hit. The object is given as a member. Returns the index in `members`
 * for each name, or `NO_MEMBER`. Of several members with the same name, returns the last one, as
 * `JSON.parse` does. Finds nothing in `NO_MEMBER`.
 */
export function findMembers<Names extends readonly MemberName[]>(
  hit: RawHit,
  object: number,
  names: Names,
): Places<Names> {
  const found = new Array<number>(names.length).fill(NO_MEMBER)
  if (object === NO_MEMBER) return found as Places<Names>
  const end = endOf(hit, object)
  for (let member = firstOf(object); member < end; member = offset(hit, member, MEMBER.next)) {
    let isFound = false
    for (let index = 0; index < names.length; index += 1) {
      if (!hasKey(hit, member, (names[index] as MemberName).key)) continue
      found[index] = member
      isFound = true
    }
    if (!isFound) findEscaped(hit, member, names, found)
  }
  return found as Places<Names>
}

/** Index in `members` of the first member of an object. */
export function firstOf(object: number): number {
  return object === THE_HIT ? 0 : object + MEMBER_SIZE
}

/** Index in `members` after the last member of an object. */
export function endOf(hit: RawHit, object: number): number {
  return object === THE_HIT ? hit.members.length : offset(hit, object, MEMBER.next)
}

/** Finds names whose key is written with escapes. */
function findEscaped(
  hit: RawHit,
  member: number,
  names: readonly MemberName[],
  found: number[],
): void {
  const start = offset(hit, member, MEMBER.key)
  const end = offset(hit, member, MEMBER.keyEnd)
  if (!hasEscape(hit.bytes, start, end)) return
  const key = JSON.parse(hit.bytes.toString('utf8', start, end)) as string
  for (const [index, { text }] of names.entries()) if (key === text) found[index] = member
}

/** Whether the member's key has exactly these bytes, with its quotes. */
export function hasKey(hit: RawHit, member: number, key: Uint8Array): boolean {
  const start = offset(hit, member, MEMBER.key)
  const end = offset(hit, member, MEMBER.keyEnd)
  return standsThere(hit.bytes, start, end, key)
}

/** Whether the member has one of these keys. */
export function hasAnyKey(hit: RawHit, member: number, keys: readonly Uint8Array[]): boolean {
  for (const key of keys) if (hasKey(hit, member, key)) return true
  return false
}

function standsThere(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let at = 1; at < text.length; at += 1) if (bytes[start + at] !== text[at]) return false
  return true
}

/** The first byte of a value, which shows its JSON type; undefined for `NO_MEMBER`. */
export function firstByte(hit: RawHit, member: number): number | undefined {
  return member === NO_MEMBER ? undefined : hit.bytes[offset(hit, member, MEMBER.value)]
}

/** The member if its value is an object, else `NO_MEMBER`. */
export function asObject(hit: RawHit, member: number): number {
  return isObject(hit, member) ? member : NO_MEMBER
}

/** Whether the value of a member is an object. False for `NO_MEMBER`. */
export function isObject(hit: RawHit, member: number): boolean {
  return firstByte(hit, member) === OPEN_BRACE
}

/** Whether a value is empty: `null`, `false`, `0`, `""`, `{}` or `[]`. */
export function isBlank(hit: RawHit, member: number): boolean {
  const start = offset(hit, member, MEMBER.value)
  const length = offset(hit, member, MEMBER.valueEnd) - start
  const first = hit.bytes[start]
  if (first === LETTER_N || first === LETTER_F) return true
  if (first === QUOTE) return length === 2
  if (first === ZERO) return length === 1
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return false
  for (let at = start + 1; at < start + length - 1; at += 1) {
    if ((hit.bytes[at] as number) > SPACE) return false
  }
  return true
}

/** Whether the value of a member is text, and equal to `wanted` if that is given. */
export function isText(hit: RawHit, member: number, wanted?: MemberName): boolean {
  if (firstByte(hit, member) !== QUOTE) return false
  if (wanted === undefined) return true
  const start = offset(hit, member, MEMBER.value)
  const end = offset(hit, member, MEMBER.valueEnd)
  return standsThere(hit.bytes, start, end, wanted.key) || textOf(hit, member) === wanted.text
}

/** The value of a member if it is text; otherwise undefined. */
export function textOf(hit: RawHit, member: number): string | undefined {
  if (firstByte(hit, member) !== QUOTE) return undefined
  const start = offset(hit, member, MEMBER.value)
  const quoted = hit.bytes.toString('utf8', start, offset(hit, member, MEMBER.valueEnd))
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)
}

/** The value of a member, parsed; undefined for `NO_MEMBER`. */
export function parsedValue(hit: RawHit, member: number): unknown {
  if (member === NO_MEMBER) return undefined
  const start = offset(hit, member, MEMBER.value)
  return JSON.parse(hit.bytes.toString('utf8', start, offset(hit, member, MEMBER.valueEnd)))
}

/** One of the offsets of a member, named in `MEMBER`. */
export function offset({ members }: RawHit, member: number, which: number): number {
  return members[member + which] as number
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}
