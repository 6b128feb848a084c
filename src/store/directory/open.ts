import { fileURLToPath } from 'node:url'
import { addressError } from '../address-error.ts'
import type { ObjectStore } from '../object-store.ts'
import { createDirectoryStore } from './store.ts'

/** Opens the folder that an address such as `file:///folder` names. */
export function openDirectory(url: string): ObjectStore {
  if (!url.startsWith('file:///')) throw addressError(url, 'the folder is not absolute')
  const parsed = URL.parse(url)
  if (parsed === null) throw addressError(url, 'it is not a valid URL')
  if (parsed.search !== '' || parsed.hash !== '') {
    throw addressError(url, 'a ? or # in the name of the folder must be written %3F or %23')
  }
  if (parsed.pathname === '/') throw addressError(url, 'it has no folder name')
  return createDirectoryStore({ root: toPath(url, parsed) })
}

function toPath(url: string, parsed: URL): string {
  try {
    return fileURLToPath(parsed)
  } catch (error) {
    throw addressError(url, 'its percent signs do not encode a path', error)
  }
}
