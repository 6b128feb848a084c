// Tested by test/e2e/git-interrupted.test.ts

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DashkeepError } from '../../errors.ts'
import { indexName } from '../opened-folder.ts'
import { listName, parseList, type WrittenList } from '../written-list.ts'
import type { Git } from './git.ts'
import { noteOf } from './write-note.ts'

/** Files and folders in git's own folder that show an operation which a commit would disturb. */
const operations = [
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['BISECT_LOG', 'a bisection'],
] as const

/** Throws a `usage` error when an operation is in progress that a commit would disturb. */
export function refuseOperation(gitDir: string, path: string): void {
  const operation = operationIn(gitDir)
  if (operation === undefined) return
  throw new DashkeepError(`Cannot commit to ${path}: ${operation} is in progress`, {
    kind: 'usage',
    hint: 'complete or abort it with git first',
  })
}

/** The operation that is in progress in a repository, such as `a merge`. */
function operationIn(gitDir: string): string | undefined {
  return operations.find(([name]) => existsSync(join(gitDir, name)))?.[1]
}

/** Throws a `usage` error when changes of others are staged, because a commit would contain them. */
export function refuseStaged([other]: readonly FileChange[], path: string): void {
  if (other === undefined) return
  throw new DashkeepError(
    `Cannot commit to ${path}: other changes are staged, such as ${other.name}`,
    { kind: 'usage', hint: 'commit them or unstage them with `git restore --staged` first' },
  )
}

/** A change of a file in a commit. */
export interface FileChange {
  readonly kind: 'added' | 'changed' | 'removed'
  /** The name in the folder, such as `search/slow-requests.json`. */
  readonly name: string
}

/** A staged change of a file. Its name counts from the root of the repository. */
interface StagedChange extends FileChange {
  /** The file in the last commit, in the form `<mode> <object id>`; zeros for an added file. */
  readonly committed: string
}

/** What is staged in the whole repository. */
export async function stagedChanges(git: Git): Promise<StagedChange[]> {
  const args = ['--cached', '--raw', '--no-abbrev', '--no-renames', '--no-ext-diff', '-z']
  const fields = (await git.run(['diff', ...args])).split('\0')
  const changes: StagedChange[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    // Such as `:100644 100644 <committed id> <staged id> M`.
    const [mode = '', , id, , status = ''] = (fields[at] ?? '').slice(1).split(' ')
    const kinds = { A: 'added', D: 'removed' } as const
    const kind = kinds[status as keyof typeof kinds] ?? 'changed'
    changes.push({ kind, name: fields[at + 1] ?? '', committed: `${mode} ${id}` })
  }
  return changes
}

/** The list of written files in a commit or, with an empty `commit`, in what is staged. */
export async function readListIn(git: Git, commit: string, prefix: string): Promise<WrittenList> {
  const { exitCode, output } = await git.attempt([
    'cat-file',
    'blob',
    `${commit}:${prefix}${listName}`,
  ])
  return exitCode === 0 ? parseList(output, `${prefix}${listName} in git`) : new Map()
}

/**
 * Unstages what interrupted runs have staged in any folder of the repository. Otherwise, the commit of
 * another folder would contain it. Changes no files. Does nothing during an operation such as a merge,
 * which stages files too.
 */
export async function unstageInterrupted(git: Git, gitDir: string): Promise<void> {
  if (operationIn(gitDir) !== undefined) return
  const { interrupted } = await splitStaged(git, gitDir)
  if (interrupted.length === 0) return
  const input = interrupted.map(({ committed, name }) => `${committed}\t${name}\0`).join('')
  await git.run(['update-index', '-z', '--index-info'], input)
}

/** Tells what interrupted runs have staged from what others have staged. */
export async function splitStaged(
  git: Git,
  gitDir: string,
): Promise<{ interrupted: StagedChange[]; others: StagedChange[] }> {
  const staged = await stagedChanges(git)
  const prefixes = new Set(staged.flatMap(({ name }) => prefixesOf(name)))
  const ours = new Set<string>()
  for (const prefix of prefixes) {
    if (!existsSync(noteOf(gitDir, prefix))) continue
    const lists = [await readListIn(git, '', prefix), await readListIn(git, 'HEAD', prefix)]
    for (const name of [indexName, listName, ...lists.flatMap((list) => [...list.keys()])]) {
      ours.add(`${prefix}${name}`)
    }
  }
  return {
    interrupted: staged.filter(({ name }) => ours.has(name)),
    others: staged.filter(({ name }) => !ours.has(name)),
  }
}

/** The folders that contain a file: for `a/b/c`, these are the root, `a/` and `a/b/`. */
function prefixesOf(name: string): string[] {
  const parts = name.split('/')
  return parts.map((_part, count) =>
    parts
      .slice(0, count)
      .map((part) => `${part}/`)
      .join(''),
  )
}
