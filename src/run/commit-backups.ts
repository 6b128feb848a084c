// Tested by test/e2e/git-after-runs.test.ts

import { join } from 'node:path'
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
import { openEncryption, scanLimitsOf } from '../open.ts'
import { type GitFolder, openGitFolder, openGitRepository } from '../restore/git/git-folder.ts'
import { newestCommitted, refuseOtherAccount, replay } from '../restore/git/replay.ts'
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
    const repository = await openGitRepository(git.folder, { env, signal })
    const read = { opener: await openEncryption(config, env), limits: scanLimitsOf(config), signal }
    // First, because what an interrupted run has staged is in the way of the other accounts.
    const interrupted = repository.interrupted.flatMap((name) => readAccountId(name) ?? [])
    for (const accountId of new Set([...interrupted, ...accounts])) {
      const about = { ...options, store, read, signal }
      const done = await commitAccount(join(git.folder, String(accountId)), accountId, about).catch(
        (error) => ({ commits: 0, problem: limit.explain(error).message }),
      )
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

interface CommittedAccounts {
  readonly store: ObjectStore
  readonly accounts: ReadonlySet<number>
}

/** Commits what a folder lacks of its account. Returns the number of commits, and the first problem. */
async function commitAccount(
  path: string,
  accountId: number,
  {
    store,
    read,
    env,
    now,
    signal,
  }: AfterRunOptions & { store: ObjectStore; read: ReadOptions; signal: AbortSignal },
): Promise<{ commits: number; problem: string | undefined }> {
  const folder = await openGitFolder(path, { env, signal })
  await refuseOtherAccount(folder, accountId)
  const listed = await Array.fromAsync(listFolders(store, { accountId, signal }))
  const past = listed.filter((one) => one.complete && !isFromFuture(one, now()))
  const newest = newestCommitted(folder) ?? ''
  const open = leaveOutSharers(past.filter(({ snapshot }) => snapshot > newest))
  // Writes the files of the last commit again, because a stopped run may have left others.
  const again = folder.interrupted ? past.filter(({ snapshot }) => snapshot === newest) : []
  const folders = [...again, ...open]
  const before = await readCommitted(folder, newest, { store, accountId, read })
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

/** The manifest of the newest committed snapshot. Undefined when the files may have changed since. */
async function readCommitted(
  folder: GitFolder,
  snapshot: string,
  { store, accountId, read }: { store: ObjectStore; accountId: number; read: ReadOptions },
): Promise<Manifest | undefined> {
  if (snapshot === '' || folder.interrupted) return undefined
  const found = await tryReadManifest(store, accountId, snapshot, read)
  return found instanceof ManifestError ? undefined : found.manifest
}
