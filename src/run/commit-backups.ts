// Tested by test/e2e/git-after-runs.test.ts

import { pathToFileURL } from 'node:url'
import { readAccountId } from '../account-id.ts'
import {
  isArchiveFile,
  listFolders,
  manifestName,
  type SnapshotFolder,
  tryReadManifest,
} from '../archive/archive.ts'
import { isFromFuture } from '../archive/future.ts'
import { type Manifest, ManifestError } from '../archive/manifest.ts'
import type { ReadOptions } from '../archive/read-objects.ts'
import type { Config, GitConfig } from '../config/config.ts'
import { formatDuration } from '../config/duration.ts'
import { describeOverlap } from '../config/store-addresses.ts'
import { DashkeepError } from '../errors.ts'
import { findRealOverlap, openEncryption, scanLimitsOf } from '../open.ts'
import { type GitRepository, openGitRepository } from '../restore/git/git-folder.ts'
import {
  haveEqualFiles,
  newestCommitted,
  refuseOtherAccount,
  replay,
} from '../restore/git/replay.ts'
import { readIndex } from '../restore/opened-folder.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { AfterRunOptions, WarningsByAccount } from './copy-backups.ts'
import { createTimeLimit } from './time-limit.ts'

/**
 * Commits the snapshots of these accounts that are not committed yet, oldest first, and pushes them if
 * configured. Returns warnings for each account of which something is missing. Throws only when the
 * process is stopped.
 */
export async function commitAccounts(
  git: GitConfig,
  config: Config,
  { store, accounts, ...options }: AfterRunOptions & CommittedAccounts,
): Promise<WarningsByAccount> {
  const { env, log } = options
  const limit = createTimeLimit(options, {
    ms: git.deadlineMs,
    message: `Cannot finish the commits: it takes longer than ${formatDuration(git.deadlineMs)}`,
    hint: 'the next run continues; raise git.deadline, or look for what is slow',
  })
  const { signal } = limit
  const warnings = new Map<number, string[]>()
  const warn = (accountId: number, warning: string) => {
    warnings.set(accountId, [...(warnings.get(accountId) ?? []), warning])
  }
  let commits = 0
  try {
    await refuseGitFolder(git.folder, config)
    using repository = await openGitRepository(git.folder, { env, signal })
    const read = { opener: await openEncryption(config, env), limits: scanLimitsOf(config), signal }
    const committed = newestCommitted(repository.snapshots, options.now())
    const interrupted = new Set(repository.interrupted.flatMap((name) => readAccountId(name) ?? []))
    // Also completes what a run of other accounts was stopped in.
    for (const accountId of new Set([...interrupted, ...accounts])) {
      const newest = committed.get(accountId) ?? ''
      const isInterrupted = interrupted.has(accountId)
      const about = { ...options, store, read, signal, newest, isInterrupted }
      const done = await commitAccount(repository, accountId, about).catch((error) => ({
        commits: 0,
        problem: limit.explain(error).message,
      }))
      commits += done.commits
      if (done.problem !== undefined) warn(accountId, `not committed to git: ${done.problem}`)
    }
    if (git.push) {
      await repository.push().catch((error) => {
        for (const accountId of accounts)
          warn(accountId, `not pushed: ${limit.explain(error).message}`)
      })
    }
  } catch (error) {
    const { message } = limit.explain(error)
    for (const accountId of accounts) warn(accountId, `not committed to git: ${message}`)
  }
  log.info({ folder: git.folder, commits }, 'committed')
  for (const reason of new Set([...warnings.values()].flat())) log.warn({ reason }, 'git failed')
  return warnings
}

/**
 * Throws a `usage` error for a folder in or around the archive, also by a symbolic link, and for one into
 * which `restore --pretty` has written an account directly.
 */
export async function refuseGitFolder(folder: string, { store }: Config): Promise<void> {
  const hint = 'set git.folder to another folder'
  const overlap = await findRealOverlap({ url: pathToFileURL(folder).href }, store)
  if (overlap !== undefined) {
    throw new DashkeepError(
      `Cannot commit to ${folder}: it ${describeOverlap(overlap)} the archive`,
      {
        kind: 'usage',
        hint,
      },
    )
  }
  if ((await readIndex(folder)) === undefined) return
  throw new DashkeepError(
    `Cannot commit to ${folder}: it holds the objects of an account, not a subfolder for each account`,
    { kind: 'usage', hint },
  )
}

interface CommittedAccounts {
  readonly store: ObjectStore
  readonly accounts: ReadonlySet<number>
}

interface CommitOptions extends AfterRunOptions {
  readonly store: ObjectStore
  readonly read: ReadOptions
  readonly signal: AbortSignal
  /** The newest committed snapshot of the account; empty without one. */
  readonly newest: string
  /** Whether an earlier run was stopped before it committed. */
  readonly isInterrupted: boolean
}

/**
 * Commits what a folder lacks of its account. Does not touch the folder when nothing has changed.
 * Returns the number of commits, and the first problem.
 */
async function commitAccount(
  repository: GitRepository,
  accountId: number,
  options: CommitOptions,
): Promise<{ commits: number; problem: string | undefined }> {
  const { store, read, now, signal, newest, isInterrupted } = options
  const listed = await Array.fromAsync(listFolders(store, { accountId, signal }))
  const past = listed.filter((one) => one.complete && !isFromFuture(one, now()))
  const open = leaveOutSharers(past.filter(({ snapshot }) => snapshot > newest))
  const before = isInterrupted ? undefined : await readCommitted(accountId, options)
  // Writes the files of the last commit again, because a stopped run may have left others.
  const again = isInterrupted ? past.filter(({ snapshot }) => snapshot === newest) : []
  const folders = [...again, ...(await leaveOutEqual(open, before, options))]
  if (folders.length === 0) return { commits: 0, problem: undefined }
  using folder = await repository.openFolder(accountId)
  await refuseOtherAccount(folder, accountId)
  let commits = 0
  let problem: string | undefined
  for await (const step of replay(folder, { store, folders, read, before }, {})) {
    if (step.result === 'committed') commits += 1
    if (step.result === 'damaged') problem ??= `snapshot ${step.snapshot}: ${step.problem}`
  }
  return { commits, problem }
}

/**
 * Leaves out the snapshots that have no files of their own, because they have the objects of the one
 * before. Keeps the newest: the account may have a new name.
 */
function leaveOutSharers(folders: readonly SnapshotFolder[]): SnapshotFolder[] {
  const hasFiles = ({ files }: SnapshotFolder) =>
    [...files.keys()].some((name) => name !== manifestName && isArchiveFile(name))
  return folders.filter((folder, index) => index === folders.length - 1 || hasFiles(folder))
}

/** The manifest of the newest committed snapshot; undefined when the archive has it no longer. */
async function readCommitted(
  accountId: number,
  { store, read, newest }: CommitOptions,
): Promise<Manifest | undefined> {
  if (newest === '') return undefined
  const found = await tryReadManifest(store, accountId, newest, read)
  return found instanceof ManifestError ? undefined : found.manifest
}

/** Leaves out the oldest snapshots as long as they have the files of the committed one. */
async function leaveOutEqual(
  folders: readonly SnapshotFolder[],
  before: Manifest | undefined,
  { store, read }: CommitOptions,
): Promise<readonly SnapshotFolder[]> {
  if (before === undefined) return folders
  for (const [index, { accountId, snapshot }] of folders.entries()) {
    const found = await tryReadManifest(store, accountId, snapshot, read)
    const isEqual = !(found instanceof ManifestError) && haveEqualFiles(before, found.manifest)
    if (!isEqual) return folders.slice(index)
  }
  return []
}
