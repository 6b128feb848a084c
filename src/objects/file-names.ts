import { hash } from 'node:crypto'
import { compareValues } from '../order.ts'

/** Longest name without its extension. File systems allow 255 bytes. */
const MAX_NAME = 180

/** Names that Windows reserves for devices, with any extension. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)$/i

/**
 * Returns a file name without extension for each id, in the same order. Letters, digits, `-`, `_` and
 * `.` stay. Everything else is percent-encoded, so that no name leads out of its folder. Ids that could
 * get the same file (they differ only in case, are too long, empty or not well-formed) get a `~` and a
 * part of their SHA-256. The same set of ids always gives the same names.
 */
export function nameFiles(ids: readonly string[]): string[] {
  const taken = new Set<string>()
  const names: string[] = []
  const order = ids.map((id, index) => ({ id, index })).sort((a, b) => compare(a, b))
  for (const { id, index } of order) {
    const plain = encode(id)
    const marked = `${plain.slice(0, MAX_NAME)}~${hash('sha256', JSON.stringify(id)).slice(0, 8)}`
    const isFree = (name: string) => !taken.has(name.toLowerCase())
    let name = plain !== '' && plain.length <= MAX_NAME && isFree(plain) ? plain : marked
    for (let copy = 2; !isFree(name); copy += 1) name = `${marked}-${copy}`
    taken.add(name.toLowerCase())
    names[index] = name
  }
  return names
}

function compare(a: { id: string; index: number }, b: { id: string; index: number }): number {
  return compareValues(a.id, b.id) || a.index - b.index
}

function encode(id: string): string {
  const name = encodeURIComponent(id.toWellFormed())
    .replaceAll(/[!'()*~]/g, hexOf)
    .replace(/^\./, hexOf)
  return deviceName.test(name) ? name.replace(/^./, hexOf) : name
}

function hexOf(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
