import { cleanLine } from '../../clean-text.ts'
import type { ObjectMetadata } from '../object-store.ts'

const maxTagLength = 256

/** Characters of a value; servers take 2 kB of metadata in all, and the manifest has it whole. */
const maxValueLength = 100

/**
 * Keeps metadata values in the ASCII that every server and proxy passes on: all else, `%` and outer
 * spaces are percent-encoded as UTF-8. Decoding gives the value back, cleaned and cut like any text
 * from outside.
 */
export function encodeMetadata(metadata: ObjectMetadata): Record<string, string> {
  const encode = (value: string): string =>
    cleanLine(value, maxValueLength).replace(/^ +| +$|[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent)
  return Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, encode(value)]))
}

/** The same as object tags; a character that tags do not allow becomes `_`. */
export function toTags(metadata: ObjectMetadata): { Key: string; Value: string }[] {
  return Object.entries(metadata).map(([name, value]) => ({
    Key: name,
    Value: value.replace(/[^A-Za-z0-9 +\-=._:/@]/gu, '_').slice(0, maxTagLength),
  }))
}

/** The tags as the one header that goes with an object. */
export function encodeTags(metadata: ObjectMetadata): string {
  return toTags(metadata)
    .map(({ Key, Value }) => `${encodeURIComponent(Key)}=${encodeURIComponent(Value)}`)
    .join('&')
}
