import type { ObjectStore } from '../store/object-store.ts'
import { damageNoteName, fileKey } from './archive.ts'

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
