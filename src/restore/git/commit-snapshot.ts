// Tested by test/e2e/restore-git.test.ts

import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Manifest } from '../../archive/manifest.ts'
import { DashkeepError } from '../../errors.ts'
import { fromEditable } from '../../objects/editable-object.ts'
import { parseSavedObject } from '../../objects/saved-object.ts'
import { compareValues } from '../../order.ts'
import type { Selection } from '../choose.ts'
import type { WriteOptions } from '../new-file.ts'
import { fileNamesOf, indexName, writeOpened } from '../opened-folder.ts'
import type { Restoring } from '../restoring.ts'
import { isAsWritten, listName, readList } from '../written-list.ts'
import {
  type Counts,
  composeMessage,
  countChanges,
  MAX_NAMED,
  type ObjectChange,
  trailerOf,
  typeOf,
} from './commit-message.ts'
import type { GitFolder } from './git-folder.ts'
import type { FileChange } from './staged.ts'

/** The commit of a snapshot. */
export interface SnapshotCommit {
  /** Undefined when nothing changed. */
  readonly commit: string | undefined
  readonly counts: Counts
  /** Files of objects that are gone. They were edited, so they were neither removed nor committed. */
  readonly kept: readonly string[]
}

/**
 * Writes a snapshot into the folder as `writeOpened` does, and commits its files. Makes no commit when
 * nothing changed. Throws a `usage` error, before it writes anything, when a file that it would replace
 * has changes that are not committed, and, before it commits anything, when git would commit other bytes
 * than were written.
 */
export async function commitSnapshot(
  folder: GitFolder,
  { source, selection, manifest }: Restoring & { readonly manifest: Manifest },
  { overwrite = false }: WriteOptions = {},
): Promise<SnapshotCommit> {
  const names = namesOf(selection, source.exports)
  const { note } = folder
  const isContinued = await note.adopt()
  if (!overwrite) await refuseEdited(folder, names.keys())
  await note.begin()
  const { kept } = await writeOpened(source, selection, folder.path, {
    overwrite: overwrite || isContinued,
    onWrite: note.add,
  })
  await folder.refuseConverted([...names.keys(), indexName, listName])
  const changes = await folder.stage(kept)
  const counts = countChanges(changes)
  if (changes.length === 0) return { commit: await folder.finish(), counts, kept }
  const named = await nameChanges(folder, changes, names)
  const message = composeMessage(manifest, changes, named)
  const commit = await folder.finish({ message, authorDate: new Date(manifest.takenAt) })
  folder.snapshots.add(trailerOf(manifest))
  return { commit, counts, kept }
}

/** The titles of the objects by the names of their files. */
function namesOf(
  { objects }: Selection,
  exports: readonly { readonly type: string }[],
): Map<string, string | undefined> {
  return new Map(
    exports.flatMap(({ type }) =>
      [...fileNamesOf(objects, type)].map(
        ([{ title }, name]) => [`${type}/${name}`, title] as const,
      ),
    ),
  )
}

async function refuseEdited(folder: GitFolder, names: Iterable<string>): Promise<void> {
  const list = await readList(folder.path)
  for (const name of names) {
    const path = join(folder.path, name)
    if (folder.isClean(name) || !(await exists(path))) continue
    if (await isAsWritten(folder.path, name, list)) continue
    throw new DashkeepError(`Cannot replace ${path}: it has changes that are not committed`, {
      kind: 'usage',
      hint: 'commit or undo the changes; --overwrite discards them',
    })
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** Adds type and title to the first changes, in the order added, changed, removed. */
async function nameChanges(
  folder: GitFolder,
  changes: readonly FileChange[],
  titles: ReadonlyMap<string, string | undefined>,
): Promise<ObjectChange[]> {
  const named: ObjectChange[] = []
  for (const change of changes.toSorted((a, b) => compareValues(a.kind, b.kind))) {
    const type = typeOf(change.name)
    if (type === undefined || named.length === MAX_NAMED) continue
    const title =
      change.kind === 'removed'
        ? readTitle(await folder.committedText(change.name), type)
        : titles.get(change.name)
    named.push({ ...change, type, title: title ?? change.name })
  }
  return named
}

/** The title in a committed file; undefined when somebody committed another form of it. */
function readTitle(text: string, type: string): string | undefined {
  try {
    return parseSavedObject(fromEditable(text), type).title
  } catch {
    return undefined
  }
}
