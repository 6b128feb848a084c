import type { ObjectStore } from '../store/object-store.ts'
import { damageNoteName, fileKey } from './archive.ts'

/** Damaged data files in the folder of one snapshot. */
export interface DamagedFiles {
  readonly accountId: number
  /** The snapshot whose folder holds the files. */
  readonly snapshot: string
  readonly files: readonly { readonly name: string; readonly problem: string }[]
}

/**
 * Writes a note into the folder of a snapshot that lists its damaged files. Later snapshots do not
 * share these files. Replaces an existing note.
 */
export async function noteDamage(
  store: ObjectStore,
  { accountId, snapshot, files }: DamagedFiles,
  { foundAt, signal }: { foundAt: Date; signal?: AbortSignal | undefined },
): Promise<void> {
  const note = { snapshot, foundAt: foundAt.toISOString(), files }
  const bytes = Buffer.from(`${JSON.stringify(note, undefined, 2)}\n`)
  await store.put(fileKey(accountId, snapshot, damageNoteName), bytes, { signal })
}
