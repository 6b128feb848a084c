import type { ObjectStore } from '../store/object-store.ts'
import { damageNoteName, fileKey, type SnapshotFolder } from './archive.ts'

/** Data files in one snapshot's folder that are not as their manifest says. */
export interface DamagedFiles {
  readonly accountId: number
  /** The snapshot whose folder holds the files. */
  readonly snapshot: string
  readonly files: readonly { readonly name: string; readonly problem: string }[]
}

/** The snapshots among these whose folder has a note, from the listing alone. */
export function findDamaged(folders: readonly SnapshotFolder[]): Set<string> {
  const noted = folders.filter(({ files }) => files.has(damageNoteName))
  return new Set(noted.map(({ snapshot }) => snapshot))
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
