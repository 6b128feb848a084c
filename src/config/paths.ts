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
  const toPath = (path: unknown): unknown =>
    typeof path === 'string' && path !== '' ? toAbsolutePath(path, folder) : path
  const change = (one: Section, place: string, by: (value: unknown) => unknown) =>
    valueAt(one, place) === undefined ? one : withValue(one, place, by(valueAt(one, place)))
  const changeEach = (one: Section, list: string, place: string, by = toPath) =>
    listAt(one, list).length === 0
      ? one
      : withValue(
          one,
          list,
          listAt(one, list).map((entry) => (isSection(entry) ? change(entry, place, by) : entry)),
        )
  const toUrl = (url: unknown) => toStoreUrl(url, folder)
  let result = change(document, 'store.url', toUrl)
  result = changeEach(result, 'copies', 'url', toUrl)
  result = changeEach(result, 'copies', 'caBundle')
  result = changeEach(result, 'accounts', 'token.file')
  result = changeEach(result, 'notifications', 'url.file')
  for (const place of filePlaces) result = change(result, place, toPath)
  return result
}

const filePlaces = [
  'git.folder',
  'management.token.file',
  'encryption.passphrase.file',
  'encryption.identity.file',
  'metrics.textfile',
  'store.caBundle',
]
