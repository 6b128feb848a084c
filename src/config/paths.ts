import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isSection, listAt, type Section, valueAt, withValue } from './section.ts'

/** Matches an absolute path, one that begins with `./`, `../` or `~/`, and `.` and `..`. */
export const pathPattern = /^(\.{0,2}|~)\/.|^\.{1,2}\/?$/

/** Resolves a path against a folder; `~/` is the home folder. */
export function toAbsolutePath(path: string, folder: string): string {
  return resolve(folder, expandHome(path))
}

/** Replaces a `~` that the shell has not expanded by the home folder. */
export function expandHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
}

/** Turns the path of a folder into a `file://` address; any other store stays as it is. */
export function toStoreUrl(store: unknown, folder: string): unknown {
  if (typeof store !== 'string' || !pathPattern.test(store)) return store
  return pathToFileURL(toAbsolutePath(store, folder)).href
}

/** Resolves the paths in a configuration file against the folder of that file. */
export function resolvePaths(document: Section, configPath: string): Section {
  const folder = dirname(resolve(configPath))
  const toPath = (path: unknown) =>
    typeof path === 'string' && path !== '' ? toAbsolutePath(path, folder) : path
  const toUrl = (url: unknown) => toStoreUrl(url, folder)
  let result = changeAt(document, 'store.url', toUrl)
  result = changeInEach(result, 'copies', 'url', toUrl)
  result = changeInEach(result, 'copies', 'caBundle', toPath)
  result = changeInEach(result, 'accounts', 'token.file', toPath)
  result = changeInEach(result, 'notifications', 'url.file', toPath)
  for (const place of filePlaces) result = changeAt(result, place, toPath)
  return result
}

type ChangeValue = (value: unknown) => unknown

/** Returns the document with a changed value at a place. Does nothing when there is no value. */
function changeAt(document: Section, place: string, change: ChangeValue): Section {
  const value = valueAt(document, place)
  return value === undefined ? document : withValue(document, place, change(value))
}

/** Does the same as `changeAt` in each entry of a list. */
function changeInEach(
  document: Section,
  list: string,
  place: string,
  change: ChangeValue,
): Section {
  const entries = listAt(document, list)
  if (entries.length === 0) return document
  const changed = entries.map((entry) =>
    isSection(entry) ? changeAt(entry, place, change) : entry,
  )
  return withValue(document, list, changed)
}

const filePlaces = [
  'git.folder',
  'management.token.file',
  'encryption.passphrase.file',
  'encryption.identity.file',
  'metrics.textfile',
  'store.caBundle',
]
