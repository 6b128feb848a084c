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

/** Stands for the hit itself where the object is asked for whose members are meant. */
export const THE_HIT = -1

/** No such member. */
export const NO_MEMBER = -2

/** A name, ready to be looked for. */
export interface MemberName {
  readonly text: string
  /** As it stands in a hit that escapes nothing, with its quotes. */
  readonly key: Uint8Array
}

export function memberName(text: string): MemberName {
  return { text, key: Buffer.from(JSON.stringify(text)) }
}

/** As many places as names. */
type Places<Names extends readonly MemberName[]> = { -readonly [Place in keyof Names]: number }

/**
 * Finds members of an object of the hit, an object that is itself given as a member: the place in
 * `members` for each name, or `NO_MEMBER`. Of several that have a name it is the last, as for
 * `JSON.parse`. No object has no members.
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

/** Where the members of an object begin in `members`. */
export function firstOf(object: number): number {
  return object === THE_HIT ? 0 : object + MEMBER_SIZE
}

/** Where the members of an object end in `members`. */
export function endOf(hit: RawHit, object: number): number {
  return object === THE_HIT ? hit.members.length : offset(hit, object, MEMBER.next)
}

/** Any character of a key may be written as an escape. */
function findEscaped(
  hit: RawHit,
  member: number,
  names: readonly MemberName[],
  found: number[],
): void {
  const [start, end] = [offset(hit, member, MEMBER.key), offset(hit, member, MEMBER.keyEnd)]
  if (!hasEscape(hit.bytes, start, end)) return
  const key = JSON.parse(hit.bytes.toString('utf8', start, end)) as string
  for (const [index, { text }] of names.entries()) if (key === text) found[index] = member
}

/** Whether the key stands there in these very bytes, its quotes included. */
export function hasKey(hit: RawHit, member: number, key: Uint8Array): boolean {
  const [start, end] = [offset(hit, member, MEMBER.key), offset(hit, member, MEMBER.keyEnd)]
  return standsThere(hit.bytes, start, end, key)
}

/** The same for any of several keys. */
export function hasAnyKey(hit: RawHit, member: number, keys: readonly Uint8Array[]): boolean {
  for (const key of keys) if (hasKey(hit, member, key)) return true
  return false
}

function standsThere(bytes: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let at = 1; at < text.length; at += 1) if (bytes[start + at] !== text[at]) return false
  return true
}

/** The value's first byte, which tells its JSON type; undefined for no member. */
export function firstByte(hit: RawHit, member: number): number | undefined {
  return member === NO_MEMBER ? undefined : hit.bytes[offset(hit, member, MEMBER.value)]
}

/** The member if its value is an object, else `NO_MEMBER`. */
export function asObject(hit: RawHit, member: number): number {
  return isObject(hit, member) ? member : NO_MEMBER
}

export function isObject(hit: RawHit, member: number): boolean {
  return firstByte(hit, member) === OPEN_BRACE
}

/** Whether a member holds nothing: `null`, `false`, `0`, `""`, `{}` or `[]`. */
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

/** Whether the value of a member is text, this text if one is given. */
export function isText(hit: RawHit, member: number, wanted?: MemberName): boolean {
  if (firstByte(hit, member) !== QUOTE) return false
  if (wanted === undefined) return true
  const start = offset(hit, member, MEMBER.value)
  const end = offset(hit, member, MEMBER.valueEnd)
  return standsThere(hit.bytes, start, end, wanted.key) || textOf(hit, member) === wanted.text
}

/** The value of a member that is text; undefined for any other, and for no member. */
export function textOf(hit: RawHit, member: number): string | undefined {
  if (firstByte(hit, member) !== QUOTE) return undefined
  const start = offset(hit, member, MEMBER.value)
  const end = offset(hit, member, MEMBER.valueEnd)
  return hasEscape(hit.bytes, start, end)
    ? (JSON.parse(hit.bytes.toString('utf8', start, end)) as string)
    : hit.bytes.toString('utf8', start + 1, end - 1)
}

/** One of the numbers that describe a member, by its name in `MEMBER`. */
export function offset({ members }: RawHit, member: number, which: number): number {
  return members[member + which] as number
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}
