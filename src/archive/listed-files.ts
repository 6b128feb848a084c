import { damageNoteName, manifestName } from './archive.ts'
import type { Manifest } from './manifest.ts'

/** The files of one folder as a listing shows them, by name. */
export type ListedFiles = ReadonlyMap<string, { readonly size: number }>

/**
 * Says what a listing alone shows to be wrong with the files that a manifest describes: one is not
 * there, has another size, or `verify` has found it damaged. Undefined when nothing is. `files` are
 * those of the folder that holds them, which is that of `sameAs` when there is one. Pure.
 */
export function findListedDefect(
  { exports }: Pick<Manifest, 'exports'>,
  files: ListedFiles | undefined,
): string | undefined {
  const present = exports.every(({ file }) => files?.get(file.name)?.size === file.stored.bytes)
  // Without its manifest a folder counts as what an interrupted run left, and is swept.
  if (!present || !files?.has(manifestName)) return 'are missing or cut short'
  return files.has(damageNoteName) ? 'were found damaged by `verify`' : undefined
}
