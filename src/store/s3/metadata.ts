import { cleanLine } from '../../clean-text.ts'
import type { ObjectMetadata } from '../object-store.ts'

const maxTagLength = 256

/** Maximum length of a value: servers accept 2 kB of metadata. The manifest has the full values. */
const maxValueLength = 100

/**
 * Encodes metadata values as ASCII, which every server and proxy keeps. Percent-encodes `%`, outer spaces
 * and all other characters as UTF-8. Values are cleaned and shortened first.
 */
export function encodeMetadata(metadata: ObjectMetadata): Record<string, string> {
  const encode = (value: string): string =>
    cleanLine(value, maxValueLength).replace(/^ +| +$|[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent)
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, encode(value)]))
}

/** Converts metadata to object tags. Replaces characters that tags do not allow with `_`. */
export function toTags(metadata: ObjectMetadata): { Key: string; Value: string }[] {
  return Object.entries(metadata).map(([name, value]) => ({
    Key: name,
    Value: value.replace(/[^A-Za-z0-9 +\-=._:/@]/gu, '_').slice(0, maxTagLength),
  }))
}

/** Encodes metadata as the tag header of a write request. */
export function encodeTags(metadata: ObjectMetadata): string {
  return toTags(metadata)
    .map(({ Key, Value }) => `${encodeURIComponent(Key)}=${encodeURIComponent(Value)}`)
    .join('&')
}
