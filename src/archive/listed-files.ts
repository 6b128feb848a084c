import { damageNoteName, manifestName } from './archive.ts'
import type { Manifest } from './manifest.ts'

/** The files of a folder in a listing, by name. */
type ListedFiles = ReadonlyMap<string, { readonly size: number }>

/**
 * Says what a listing shows to be wrong with the data files of a manifest: one is missing, has another
 * size, or was found damaged by `verify`. Returns undefined when nothing is wrong. `files` are the
 * files of the folder that `holderOf` names. Pure.
 */
export function findListedDefect(
  { exports }: Pick<Manifest, 'exports'>,
  files: ListedFiles | undefined,
): string | undefined {
  const present = exports.every(({ file }) => files?.get(file.name)?.size === file.stored.bytes)
  // A folder without its manifest counts as left by an interrupted run and will be removed.
  if (!present || !files?.has(manifestName)) return 'are missing or cut short'
  return files.has(damageNoteName) ? 'were found damaged by `verify`' : undefined
}

/** The names of files in the folder of a snapshot that its manifest does not describe. Pure. */
export function findUndescribed(
  { files }: { readonly files: ListedFiles },
  { sameAs, exports }: Pick<Manifest, 'sameAs' | 'exports'>,
): string[] {
  const own = sameAs === undefined ? exports.map(({ file }) => file.name) : []
  const expected = new Set([manifestName, damageNoteName, ...own])
  return [...files.keys()].filter((name) => !expected.has(name))
}
