// Tested by test/e2e/restore-git.test.ts

import type { Manifest } from '../../archive/manifest.ts'
import { cleanLine } from '../../clean-text.ts'
import { compareValues } from '../../order.ts'
import { formatTime } from '../../wording.ts'
import { trailerName } from './git-folder.ts'
import type { FileChange } from './staged.ts'

/** Objects that a message names. It only counts the others. */
export const MAX_NAMED = 50

/** Longest title and longest account name in a message, in characters. */
const [MAX_TITLE, MAX_ACCOUNT] = [100, 40]

const kinds = ['added', 'changed', 'removed'] as const

/** Number of objects by kind of change. */
export type Counts = Readonly<Record<FileChange['kind'], number>>

/** A change of an object. */
export interface ObjectChange extends FileChange {
  readonly type: string
  readonly title: string
}

/** The trailer of a snapshot's commit, without its name. */
export function trailerOf({ account, snapshot }: Pick<Manifest, 'account' | 'snapshot'>): string {
  return `${account.id}/${snapshot}`
}

/** Counts the changes of objects. The two files that describe the folder do not count. */
export function countChanges(changes: readonly FileChange[]): Counts {
  const counts = { added: 0, changed: 0, removed: 0 }
  for (const { kind, name } of changes) if (name.includes('/')) counts[kind] += 1
  return counts
}

/** Formats counts, such as `2 added, 1 changed`. */
export function formatCounts(counts: Counts): string {
  const parts = kinds.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${kind}`)
  return parts.length > 0 ? parts.join(', ') : 'no object changed'
}

/**
 * Composes the message of a snapshot's commit: the counts, the snapshot, the counts of each type, the
 * titles of `named` objects, and the trailer. Its length does not depend on the number of changes.
 */
export function composeMessage(
  manifest: Manifest,
  changes: readonly FileChange[],
  named: readonly ObjectChange[],
): string {
  const { account, snapshot, takenAt } = manifest
  const name = cleanLine(account.name, MAX_ACCOUNT)
  const counts = countChanges(changes)
  const total = counts.added + counts.changed + counts.removed
  const byType = Map.groupBy(changes, ({ name }) => typeOf(name) ?? '')
  const types = [...byType].filter(([type]) => type !== '').sort(([a], [b]) => compareValues(a, b))
  const lines = [
    `${name}: ${formatCounts(counts)}`,
    '',
    `Snapshot ${snapshot} of account ${account.id} (${name}), taken ${formatTime(new Date(takenAt))} UTC`,
    '',
    ...types.map(([type, ofType]) => `${type}: ${formatCounts(countChanges(ofType))}`),
    ...(named.length > 0 ? [''] : []),
    ...named.map(({ kind, type, title }) => `${kind} ${type} ${cleanLine(title, MAX_TITLE)}`),
    ...(total > named.length ? [`and ${total - named.length} more`] : []),
    ...(total > 0 ? [''] : []),
    `${trailerName}: ${trailerOf(manifest)}`,
  ]
  return `${lines.join('\n')}\n`
}

/** The type of an object's file; undefined for the files that describe the folder. */
export function typeOf(name: string): string | undefined {
  const [type, file] = name.split('/')
  return file === undefined ? undefined : type
}
