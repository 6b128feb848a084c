// Tested by test/e2e/restore-git.test.ts

import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DashkeepError } from '../../errors.ts'
import { indexName } from '../opened-folder.ts'
import { makeTarget } from '../to-files.ts'
import { listName, readList } from '../written-list.ts'
import { createGit, failed, type Git, type GitOptions } from './git.ts'
import { lockRepository } from './lock.ts'
import { refuseConverted } from './refuse-converted.ts'
import {
  type FileChange,
  readListIn,
  refuseOperation,
  refuseStaged,
  stagedChanges,
  unstageInterrupted,
} from './staged.ts'
import { createWriteNote, noteOf, type WriteNote } from './write-note.ts'

/** The trailer of a commit that names its snapshot, such as `100001/20261120T163100Z-4f2a1c`. */
export const trailerName = 'Dashkeep-Snapshot'

/** A folder with a file for each object, inside a git repository. Disposing unlocks the repository. */
export interface GitFolder extends Disposable {
  readonly path: string
  /** The root of the repository: the folder itself, or a folder above it. */
  readonly root: string
  /** Whether the repository was created now. */
  readonly created: boolean
  /** The committed snapshots, as the trailers of the folder's history name them. */
  readonly snapshots: Set<string>
  /** Whether git tracks a file and the file has no uncommitted change. */
  isClean(name: string): boolean
  /** Notes what is being written. The note stays until the next commit. */
  readonly note: WriteNote
  /** Throws a `usage` error when git would commit other bytes of a file than the file has. */
  refuseConverted(names: readonly string[]): Promise<void>
  /** Stages the listed files except those that were kept. Returns what differs from the last commit. */
  stage(kept: readonly string[]): Promise<FileChange[]>
  /** The committed text of a file. */
  committedText(name: string): Promise<string>
  /** Commits what is staged, if `message` is given, and removes the note. Returns the commit's id. */
  finish(commit?: { message: string; authorDate: Date }): Promise<string | undefined>
  push(): Promise<void>
}

/** A repository that holds the folders of several accounts. Disposing unlocks it. */
export interface GitRepository extends Disposable {
  readonly root: string
  /** The committed snapshots of all accounts, as the trailers of the folder's history name them. */
  readonly snapshots: ReadonlySet<string>
  /** Names of the subfolders in which an earlier run was stopped before it committed. */
  readonly interrupted: readonly string[]
  /** Opens the subfolder of an account. Throws a `usage` error when it is not in this repository. */
  openFolder(accountId: number): Promise<GitFolder>
  push(): Promise<void>
}

/**
 * Opens the repository of a folder, and creates the folder and a repository when there is none. Throws a
 * `usage` error when another process has locked it.
 */
export async function openGitRepository(path: string, options: GitOptions): Promise<GitRepository> {
  using stack = new DisposableStack()
  const { git, root, prefix, gitDir } = await openInside(path, options)
  stack.use(lockRepository(gitDir, root))
  const interrupted = (await readdir(path)).filter((name) =>
    existsSync(noteOf(gitDir, `${prefix}${name}/`)),
  )
  const snapshots = await readTrailers(git, prefix)
  const ofAccount = (id: number) => [...snapshots].filter((one) => one.startsWith(`${id}/`))
  const lock = stack.move()
  return {
    root,
    snapshots,
    interrupted,
    openFolder: (id) =>
      openGitFolder(join(path, String(id)), options, { root, snapshots: new Set(ofAccount(id)) }),
    push: () => push(git),
    [Symbol.dispose]: () => lock.dispose(),
  }
}

/**
 * Opens a folder for commits, and creates the folder and a repository when there is none. A folder
 * inside the work tree of a repository belongs to that repository. Throws a `usage` error when the
 * repository ignores the folder, is in the middle of a merge or the like, or has staged changes of other
 * files, when another process has locked it, and when the folder is not in the repository `within`. This
 * one is locked already, and what is committed in it is known.
 */
export async function openGitFolder(
  path: string,
  options: GitOptions,
  within?: Pick<GitFolder, 'root' | 'snapshots'>,
): Promise<GitFolder> {
  using stack = new DisposableStack()
  const { git, root, created, prefix, gitDir } = await openInside(path, options, within?.root)
  await refuseIgnored(git, path, root)
  if (within === undefined) stack.use(lockRepository(gitDir, root))
  await unstageInterrupted(git, gitDir)
  const note = createWriteNote(noteOf(gitDir, prefix), path)
  const place = { git, prefix, path, gitDir }
  const committed = await readListIn(git, 'HEAD', prefix)
  const ours = new Set([...(await readList(path)).keys(), ...committed.keys()])
  await readStaged(place, ours)
  const clean = await listClean(place, ours)
  const identity = await chooseIdentity(git, options.env)
  const snapshots = within?.snapshots ?? (await readTrailers(git, prefix))
  const lock = stack.move()
  return {
    ...{ path, root, created, snapshots, note },
    isClean: (name) => clean.has(name),
    committedText: (name) => git.run(['cat-file', 'blob', `HEAD:${prefix}${name}`]),
    push: () => push(git),
    refuseConverted: (names) => refuseConverted(git, { root, prefix, path }, names),
    ...createCommits(place, { note, clean, identity }),
    [Symbol.dispose]: () => lock.dispose(),
  }
}

/** A folder in a repository. `prefix` is its path from the root, with a final slash, or empty. */
interface Place {
  readonly git: Git
  readonly prefix: string
  readonly path: string
  readonly gitDir: string
}

function createCommits(
  place: Place,
  given: { note: WriteNote; clean: Set<string>; identity: readonly string[] },
): Pick<GitFolder, 'stage' | 'finish'> {
  const { git, prefix, path } = place
  const { note, clean, identity } = given
  let written: string[] = []
  return {
    async stage(kept) {
      const [list, committed] = [await readList(path), await readListIn(git, 'HEAD', prefix)]
      const keptNames = new Set(kept)
      written = [...list.keys()].filter((name) => !keptNames.has(name))
      const ours = new Set([indexName, listName, ...written, ...committed.keys()])
      for (const name of kept) ours.delete(name)
      const input = [...ours].map((name) => `${name}\0`).join('')
      await git.run(['update-index', '--add', '--remove', '-z', '--stdin'], input)
      const staged = await readStaged(place, ours)
      return staged.map(({ kind, name }) => ({ kind, name: name.slice(prefix.length) }))
    },
    async finish(commit) {
      if (commit !== undefined) {
        await git.run(commitArguments(identity, commit.authorDate), commit.message)
        for (const name of written) clean.add(name)
      }
      await note.remove()
      return commit && (await git.run(['rev-parse', 'HEAD'])).trimEnd()
    },
  }
}

/** Opens git in a folder, and creates the folder and a repository when there is none. */
async function openInside(path: string, options: GitOptions, within?: string) {
  await makeTarget(path)
  const git = await createGit(await realpath(path), options)
  const { root, created } = await findRoot(git, { path, within })
  const prefix = (await git.run(['rev-parse', '--show-prefix'])).trimEnd()
  const gitDir = (await git.run(['rev-parse', '--absolute-git-dir'])).trimEnd()
  return { git, root, created, prefix, gitDir }
}

async function findRoot(
  git: Git,
  { path, within }: { path: string; within: string | undefined },
): Promise<{ root: string; created: boolean }> {
  const root = await tryFindRoot(git)
  if (within !== undefined && root !== within) {
    throw new DashkeepError(
      `Cannot commit to ${path}: it does not belong to the git repository ${within}`,
      {
        kind: 'usage',
        hint: 'it is a symbolic link or has a repository of its own: move it away, and the next run writes it again',
      },
    )
  }
  if (root !== undefined) return { root, created: false }
  await git.run(['init', '--quiet'])
  return { root: (await git.run(['rev-parse', '--show-toplevel'])).trimEnd(), created: true }
}

/** The root of the repository; undefined when there is none. Throws when git refuses to use it. */
export async function tryFindRoot(git: Git): Promise<string | undefined> {
  const found = await git.attempt(['rev-parse', '--show-toplevel'])
  if (found.exitCode === 0) return found.output.trimEnd()
  if (found.complaint.includes('not a git repository')) return undefined
  throw failed('use the git repository', git.folder, found)
}

/** Throws a `usage` error when the repository ignores the folder of `git`. */
export async function refuseIgnored(git: Git, path: string, root: string): Promise<void> {
  if ((await git.attempt(['check-ignore', '--quiet', git.folder])).exitCode !== 0) return
  throw new DashkeepError(`Cannot commit to ${path}: the repository ${root} ignores this folder`, {
    kind: 'usage',
    hint: `\`git init ${path}\` gives the folder a repository of its own`,
  })
}

/**
 * Reads what is staged. Names count from the root. Refuses changes of files that are not `ours`, because
 * a commit would contain them.
 */
async function readStaged(
  { git, prefix, path, gitDir }: Place,
  ours: ReadonlySet<string>,
): Promise<FileChange[]> {
  refuseOperation(gitDir, path)
  const isOurs = (name: string) => {
    const own = name.slice(prefix.length)
    return name.startsWith(prefix) && (own === indexName || own === listName || ours.has(own))
  }
  const staged = await stagedChanges(git)
  refuseStaged(
    staged.filter(({ name }) => !isOurs(name)),
    path,
  )
  return staged
}

/**
 * Names of the folder's files that git tracks and that are as committed. Throws a `usage` error when git
 * is told to assume that one of `ours` is unchanged: it would neither show an edit nor commit a change.
 */
async function listClean({ git, path }: Place, ours: ReadonlySet<string>): Promise<Set<string>> {
  if (!(await hasCommits(git))) return new Set()
  const lines = (await git.run(['ls-files', '-v', '-z'])).split('\0')
  const tracked = lines.map((line) => line.slice(2))
  const assumed = tracked.find((name, index) => /^[a-z]/.test(lines[index] ?? '') && ours.has(name))
  if (assumed !== undefined) {
    throw new DashkeepError(
      `Cannot commit to ${path}: git is told to assume that ${assumed} is unchanged`,
      {
        kind: 'usage',
        hint: `run \`git -C ${path} update-index --no-assume-unchanged ${assumed}\``,
      },
    )
  }
  const changed = await git.run(['diff', 'HEAD', '--name-only', '--no-renames', '--relative', '-z'])
  const clean = new Set(tracked)
  for (const name of changed.split('\0')) clean.delete(name)
  return clean
}

async function hasCommits(git: Git): Promise<boolean> {
  return (await git.attempt(['rev-parse', '--quiet', '--verify', 'HEAD'])).exitCode === 0
}

async function readTrailers(git: Git, prefix: string): Promise<Set<string>> {
  if (!(await hasCommits(git))) return new Set()
  const format = `--format=%(trailers:key=${trailerName},valueonly)`
  const ofFolder = prefix === '' ? [] : ['--full-history', '--', '.']
  const output = await git.run(['log', format, ...ofFolder])
  return new Set(output.split('\n').filter((line) => /^\d+\/\S+$/.test(line)))
}

/** Settings for a person that git does not know. */
async function chooseIdentity(git: Git, env: GitOptions['env']): Promise<string[]> {
  const chosen: string[] = []
  for (const [key, fallback] of [
    ['name', 'dashkeep'],
    ['email', 'dashkeep@localhost'],
  ] as const) {
    const known = await git.attempt(['config', '--get', `user.${key}`])
    const variables = ['AUTHOR', 'COMMITTER'].map((who) => env[`GIT_${who}_${key.toUpperCase()}`])
    if (known.output.trim() === '' && variables.some((value) => !value)) {
      chosen.push('-c', `user.${key}=${fallback}`)
    }
  }
  return chosen
}

/** Signing follows git's settings. */
function commitArguments(identity: readonly string[], authorDate: Date): string[] {
  const settings = ['gc.autoDetach=false', 'maintenance.autoDetach=false']
  return [
    ...identity,
    ...settings.flatMap((setting) => ['-c', setting]),
    'commit',
    '--quiet',
    '--no-verify',
    '--cleanup=verbatim',
    '--file=-',
    `--date=${authorDate.toISOString()}`,
  ]
}

async function push(git: Git): Promise<void> {
  const result = await git.attempt(['-c', 'push.autoSetupRemote=true', 'push', '--quiet'])
  if (result.exitCode !== 0) throw failed('push', git.folder, result)
}
