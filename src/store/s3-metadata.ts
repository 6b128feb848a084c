import type { ObjectMetadata } from './object-store.ts'

const maxTagLength = 256

/**
 * Keeps metadata values in the ASCII that every server and proxy passes on: all else, `%` and outer
 * spaces are percent-encoded as UTF-8, so that decoding gives the value back.
 */
export function encodeMetadata(metadata: ObjectMetadata): Record<string, string> {
  const encode = (value: string): string =>
    value.toWellFormed().replace(/^ +| +$|[^\x20-\x24\x26-\x7e]+/gu, encodeURIComponent)
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
