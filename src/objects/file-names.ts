import { hash } from 'node:crypto'

/** Longest name, without its ending: file systems allow 255 bytes. */
const MAX_NAME = 180

/** Names that Windows keeps for devices, whatever their ending. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)$/i

/**
 * Names a file for each id, without an ending, in the order given. Letters, digits, `-`, `_` and
 * `.` stay, everything else is percent-encoded, so that no name leaves its folder. Ids that a file
 * system could take for one another (equal but for case, too long, empty, well-formed only in part)
 * get a `~` and a piece of their SHA-256. The same set of ids gives the same names.
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
  if (a.id === b.id) return a.index - b.index
  return a.id < b.id ? -1 : 1
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
