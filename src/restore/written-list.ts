import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DashkeepError } from '../errors.ts'
import { describeFileError, openWithoutLinks, readSmallFile } from '../local-files.ts'
import { compareValues } from '../order.ts'
import { writeWhole } from './new-file.ts'

/** The list of files that dashkeep has written into a folder with a file for each object. */
export const listName = 'dashkeep.sha256'

/** Room for half a million files. */
const MAX_LIST_BYTES = 64 * 1024 ** 2

/** A line of the list. Names are `<type>/<name>.json`, as `nameFiles` makes them, inside the folder. */
const line = /^([0-9a-f]{64}) {2}([a-z][a-z0-9-]{0,63}\/[\w%~-][\w.%~-]*\.json)$/

/** Files by name, such as `search/slow-requests.json`, with the SHA-256 of what was written. */
export type WrittenList = Map<string, string>

/** Reads the list of a folder; empty when there is none. Throws a `usage` error for an invalid list. */
export async function readList(folder: string): Promise<WrittenList> {
  const path = join(folder, listName)
  const text = await readSmallFile(path, { maxBytes: MAX_LIST_BYTES, noLinks: true }).catch(
    (error) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return ''
      throw cannotUse(path, error)
    },
  )
  return parseList(text, path)
}

/** Parses a list. `label` names it in errors. Throws a `usage` error for an invalid list. */
export function parseList(text: string, label: string): WrittenList {
  const list: WrittenList = new Map()
  for (const one of text.split(/\r?\n/).slice(0, -1)) {
    const file = parseLine(one)
    if (file === undefined) throw cannotUse(label)
    list.set(file.name, file.sha256)
  }
  return list
}

/** Parses a line of the list; undefined for anything else. */
export function parseLine(text: string): { name: string; sha256: string } | undefined {
  const [, sha256, name] = line.exec(text) ?? []
  return sha256 === undefined || name === undefined ? undefined : { name, sha256 }
}

/** Writes the list of a folder, in the form of `sha256sum`, sorted by name. */
export async function writeList(folder: string, list: WrittenList): Promise<void> {
  const sorted = [...list].sort(([a], [b]) => compareValues(a, b))
  const text = sorted.map(([name, sha256]) => formatLine(name, sha256)).join('')
  await writeWhole(join(folder, listName), text)
}

/** Formats a line of the list, as `sha256sum` does. */
export function formatLine(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`
}

/** Removes a file if it was not edited. Returns whether it was removed. */
export async function removeWritten(
  folder: string,
  name: string,
  list: WrittenList,
): Promise<boolean> {
  if (!(await isAsWritten(folder, name, list))) return false
  await rm(join(folder, name))
  list.delete(name)
  return true
}

/** Whether a file is in the list and was not edited. False for a file that cannot be read. */
export async function isAsWritten(
  folder: string,
  name: string,
  list: WrittenList,
): Promise<boolean> {
  const expected = list.get(name)
  return expected !== undefined && (await sha256Of(join(folder, name))) === expected
}

/** Git can check out files with CRLF. No file that dashkeep writes contains this byte. */
const CARRIAGE_RETURN = 13

/** Undefined for a file that cannot be read, a symbolic link, and anything else that is not a file. */
async function sha256Of(path: string): Promise<string | undefined> {
  try {
    await using file = await openWithoutLinks(path)
    const hash = createHash('sha256')
    for await (const chunk of file.createReadStream({
      autoClose: false,
    }) as AsyncIterable<Buffer>) {
      hash.update(chunk.includes('\r') ? chunk.filter((byte) => byte !== CARRIAGE_RETURN) : chunk)
    }
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

/** The error for a list or an index that dashkeep did not write in this form. */
export function cannotUse(path: string, cause?: unknown): DashkeepError {
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException
  const isRefused = ['ELOOP', 'EACCES'].includes(code)
  const state = isRefused ? describeFileError(cause) : 'it is not what dashkeep writes'
  return new DashkeepError(`Cannot use ${path}: ${state}`, {
    kind: 'usage',
    hint: 'undo the change to it, or give another folder',
    cause,
  })
}
