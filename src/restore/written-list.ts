import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DashkeepError } from '../errors.ts'
import { readSmallFile } from '../local-files.ts'

/** The list of the files that dashkeep has written into a folder of opened objects. */
export const listName = 'dashkeep.sha256'

/** Room for half a million files. */
const MAX_LIST_BYTES = 64 * 1024 ** 2

/** `<type>/<name>.json`, as `nameFiles` names files: neither escapes nor a way out of the folder. */
const line = /^([0-9a-f]{64}) {2}([a-z][a-z0-9-]{0,63}\/[\w%~-][\w.%~-]*\.json)$/

/** Files by name, such as `search/slow-requests.json`, with the SHA-256 of what was written. */
export type WrittenList = Map<string, string>

/** Reads the list of a folder; empty when there is none. Throws a `usage` error for any other file. */
export async function readList(folder: string): Promise<WrittenList> {
  const path = join(folder, listName)
  const text = await readSmallFile(path, { maxBytes: MAX_LIST_BYTES, noLinks: true }).catch(
    (error) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return ''
      throw cannotUse(path, error)
    },
  )
  const list: WrittenList = new Map()
  for (const one of text.split('\n').slice(0, -1)) {
    const [, sha256, name] = line.exec(one) ?? []
    if (sha256 === undefined || name === undefined) throw cannotUse(path)
    list.set(name, sha256)
  }
  return list
}

/** The list as `sha256sum --check` takes it, sorted by name. */
export function formatList(list: WrittenList): string {
  const sorted = [...list].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, sha256]) => `${sha256}  ${name}\n`).join('')
}

/** Removes a file when it is still what was written. Says whether it did. */
export async function removeWritten(
  folder: string,
  name: string,
  list: WrittenList,
): Promise<boolean> {
  const expected = list.get(name)
  const path = join(folder, name)
  if (expected === undefined || (await sha256Of(path)) !== expected) return false
  await rm(path)
  list.delete(name)
  return true
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** The error for a file of dashkeep's own that is another, or a symbolic link. */
export function cannotUse(path: string, cause?: unknown): DashkeepError {
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException
  const states: Record<string, string> = {
    ELOOP: 'it is a symbolic link',
    EACCES: 'this user may not read it',
  }
  return new DashkeepError(
    `Cannot use ${path}: ${states[code] ?? 'it is not what dashkeep writes'}`,
    {
      kind: 'usage',
      hint: 'take back the change to it, or give another folder',
      cause,
    },
  )
}
