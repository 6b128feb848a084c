import type { ObjectStore } from '../store/object-store.ts'
import { fileKey } from './archive.ts'

/**
 * The file in a snapshot's folder that says that `verify` has found data files there damaged. A
 * backup sees it in the listing that it makes anyway, and shares none of the folder's files.
 */
export const damageNoteName = 'damaged.json'

/** Data files in one snapshot's folder that are not as their manifest says. */
export interface DamagedFiles {
  readonly accountId: number
  /** The snapshot whose folder holds the files. */
  readonly snapshot: string
  readonly files: readonly { readonly name: string; readonly problem: string }[]
}

/** Leaves the note, so that no later snapshot shares the files. A second note replaces the first. */
export async function noteDamage(
  store: ObjectStore,
  { accountId, snapshot, files }: DamagedFiles,
  { foundAt, signal }: { foundAt: Date; signal?: AbortSignal | undefined },
): Promise<void> {
  const note = { snapshot, foundAt: foundAt.toISOString(), files }
  const bytes = Buffer.from(`${JSON.stringify(note, undefined, 2)}\n`)
  await store.put(fileKey(accountId, snapshot, damageNoteName), bytes, { signal })
}
