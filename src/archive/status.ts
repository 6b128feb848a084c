import { pMapIterable, pMapSkip } from 'p-map'
import type { ObjectStore } from '../store/object-store.ts'
import {
  listAccounts,
  listFolders,
  type SnapshotFolder,
  sizeOf,
  tryReadManifest,
} from './archive.ts'
import { splitByTime } from './future.ts'
import { findListedDefect } from './listed-files.ts'
import { holderOf, type Manifest, ManifestError } from './manifest.ts'
import { timePrefix } from './snapshot-name.ts'

/** Judgement of an account according to the archive, not to reports of runs. */
export interface AccountJudgement {
  readonly accountId: number
  /** From the newest readable manifest. */
  readonly accountName: string | undefined
  /** The account's name in the configuration, from the same manifest. */
  readonly configuredAs: string | undefined
  /** The newest snapshot that is neither suspect nor from the future; undefined when there is none. */
  readonly newestGood: Manifest | undefined
  /** Time of `newestGood`, from its name. */
  readonly newestGoodAt: Date | undefined
  /**
   * The newest good snapshot without damage that the listing or `verify` shows; undefined when there
   * is none.
   */
  readonly newestSound: Manifest | undefined
  /** Suspect snapshots since the newest good one, with their reasons, newest first. */
  readonly suspects: readonly { readonly snapshot: string; readonly reasons: readonly string[] }[]
  /** Why manifests newer than `newestGood` cannot be read. */
  readonly unreadable: readonly string[]
  /** The same, and damage to the files of `newestGood`. */
  readonly problems: readonly string[]
  /** Names of the snapshots from the future, oldest first. None of them is read. */
  readonly fromFuture: readonly string[]
}

/** The same, with the size of the account in the archive. */
export interface AccountStatus extends AccountJudgement {
  readonly snapshots: number
  /** Bytes of all its files. */
  readonly bytes: number
}

/** Accounts whose manifests are read at once. */
const ACCOUNTS_AT_ONCE = 8

/**
 * Yields the status of each account at the time `now`. Needs one listing, and the manifests from the
 * newest one back to the first good one: normally one for each account. If that snapshot is damaged,
 * reads older manifests back to the first one without damage.
 */
export async function* readStatus(
  store: ObjectStore,
  options: {
    now: Date
    accountId?: number | undefined
    /** Skips all other accounts after the listing, without reading their manifests. */
    only?: ReadonlySet<number> | undefined
    signal?: AbortSignal | undefined
  },
): AsyncGenerator<AccountStatus> {
  const accounts = listAccounts(store, options)
  const read = (account: ListedAccount) =>
    options.only?.has(account.accountId) === false
      ? pMapSkip
      : statusOfAccount(store, account, options)
  yield* pMapIterable(accounts, read, { concurrency: ACCOUNTS_AT_ONCE })
}

/** How far back a judgement lists at first: the newest snapshot of a daily backup is in it. */
const RECENT_MS = 2 * 24 * 3600_000

/**
 * Judges one account as `readStatus` does, with few files: lists its last two days, and all of it
 * only when there is no good snapshot without damage. Undefined when the archive holds nothing of the
 * account.
 */
export async function judgeAccount(
  store: ObjectStore,
  accountId: number,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountJudgement | undefined> {
  const { now, signal } = options
  const startAfter = `${accountId}/${timePrefix(new Date(now.getTime() - RECENT_MS))}`
  const list = async (part: { startAfter?: string; snapshot?: string }) =>
    Array.fromAsync(listFolders(store, { accountId, signal, ...part }))
  const recent = await list({ startAfter })
  const findOlder = async (snapshot: string) => (await list({ snapshot }))[0]
  const judged = await judge(store, { accountId, folders: recent, findOlder }, options)
  if (judged.newestSound !== undefined) return judged
  const folders = await list({})
  return folders.length === 0 ? undefined : judge(store, { accountId, folders }, options)
}

interface ListedAccount {
  readonly accountId: number
  readonly folders: readonly SnapshotFolder[]
  /** Lists a folder that is older than `folders`, when these are not all. */
  readonly findOlder?: (snapshot: string) => Promise<SnapshotFolder | undefined>
}

async function statusOfAccount(
  store: ObjectStore,
  account: ListedAccount,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountStatus> {
  const { folders } = account
  const snapshots = folders.filter(({ complete }) => complete).length
  const bytes = folders.reduce((sum, folder) => sum + sizeOf(folder), 0)
  return { ...(await judge(store, account, options)), snapshots, bytes }
}

async function judge(
  store: ObjectStore,
  account: ListedAccount,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountJudgement> {
  const { accountId, folders } = account
  const complete = folders.filter((folder) => folder.complete)
  const { past, future } = splitByTime(complete, options.now)
  const found = await findNewestGood(store, past, options)
  const defect = found.newestGood && (await describeDefect(found.newestGood, account))
  const problems = [...found.unreadable, ...(defect === undefined ? [] : [defect])]
  const newestSound =
    defect === undefined ? found.newestGood : await findNewestSound(store, past, account, options)
  const fromFuture = future.map(({ snapshot }) => snapshot)
  return { accountId, fromFuture, newestSound, problems, ...found }
}

async function describeDefect(
  newestGood: Manifest,
  { folders, findOlder }: ListedAccount,
): Promise<string | undefined> {
  const name = holderOf(newestGood)
  const holder = folders.find(({ snapshot }) => snapshot === name) ?? (await findOlder?.(name))
  const defect = findListedDefect(newestGood, holder?.files)
  return defect && `files of snapshot ${name} ${defect}`
}

async function findNewestSound(
  store: ObjectStore,
  past: readonly SnapshotFolder[],
  account: ListedAccount,
  options: { signal?: AbortSignal | undefined },
): Promise<Manifest | undefined> {
  for (const { accountId, snapshot } of past.toReversed()) {
    const stored = await tryReadManifest(store, accountId, snapshot, options)
    if (stored instanceof ManifestError || stored.manifest.suspect !== undefined) continue
    if ((await describeDefect(stored.manifest, account)) === undefined) return stored.manifest
  }
  return undefined
}

async function findNewestGood(
  store: ObjectStore,
  folders: readonly SnapshotFolder[],
  options: { signal?: AbortSignal | undefined },
) {
  const suspects: { snapshot: string; reasons: readonly string[] }[] = []
  const unreadable: string[] = []
  let account: Partial<Manifest['account']> = {}
  const found = (newestGood?: Manifest, newestGoodAt?: Date) => {
    const { name: accountName, configuredAs } = account
    return { accountName, configuredAs, newestGood, newestGoodAt, suspects, unreadable }
  }
  for (const { accountId, snapshot, takenAt } of folders.toReversed()) {
    const stored = await tryReadManifest(store, accountId, snapshot, options)
    if (stored instanceof ManifestError) {
      unreadable.push(stored.message)
      continue
    }
    const { manifest } = stored
    if (account.name === undefined) account = manifest.account
    if (manifest.suspect === undefined) return found(manifest, takenAt)
    suspects.push({ snapshot, reasons: manifest.suspect.reasons })
  }
  return found()
}
