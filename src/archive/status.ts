import { pMapIterable, pMapSkip } from 'p-map'
import type { ObjectStore } from '../store/object-store.ts'
import { listAccounts, type SnapshotFolder, sizeOf, tryReadManifest } from './archive.ts'
import { splitByTime } from './future.ts'
import { findListedDefect } from './listed-files.ts'
import { type Manifest, ManifestError } from './manifest.ts'

/** What the archive says of one account, whatever any run said of itself. */
export interface AccountStatus {
  readonly accountId: number
  /** From the newest readable manifest. */
  readonly accountName: string | undefined
  /** What the configuration called it, from the same manifest. */
  readonly configuredAs: string | undefined
  readonly snapshots: number
  /** Bytes of all its files. */
  readonly bytes: number
  /** The newest snapshot that is neither suspect nor from the future; undefined when there is none. */
  readonly newestGood: Manifest | undefined
  /** When that was taken, by its name: `verify` compares the manifest's own time with it. */
  readonly newestGoodAt: Date | undefined
  /**
   * The newest good snapshot without damage that the listing or `verify` shows; undefined when there
   * is none.
   */
  readonly newestSound: Manifest | undefined
  /** Suspect snapshots since the newest good one, with their reasons, newest first. */
  readonly suspects: readonly { readonly snapshot: string; readonly reasons: readonly string[] }[]
  /** What could not be read on the way to the newest good snapshot, and damage to its files. */
  readonly problems: readonly string[]
  /** Names of the snapshots from the future, oldest first. None of them is read. */
  readonly fromFuture: readonly string[]
}

/** Accounts whose manifests are read at once. */
const ACCOUNTS_AT_ONCE = 8

/**
 * Says for each account in the archive what its newest good snapshot is as of `now`. One listing, and
 * the manifests from the newest back to the first good one: one an account, as a rule. Where that is
 * damaged, more manifests are read, back to the first that is not.
 */
export async function* readStatus(
  store: ObjectStore,
  options: {
    now: Date
    accountId?: number | undefined
    /** Passes over all other accounts, after the listing and before any manifest. */
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

interface ListedAccount {
  readonly accountId: number
  readonly folders: readonly SnapshotFolder[]
}

async function statusOfAccount(
  store: ObjectStore,
  { accountId, folders }: ListedAccount,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountStatus> {
  const complete = folders.filter((folder) => folder.complete)
  const bytes = folders.reduce((sum, folder) => sum + sizeOf(folder), 0)
  const { past, future } = splitByTime(complete, options.now)
  const found = await findNewestGood(store, past, options)
  const defect = found.newestGood && describeDefect(found.newestGood, folders)
  if (defect !== undefined) found.problems.push(defect)
  const newestSound =
    defect === undefined ? found.newestGood : await findNewestSound(store, past, folders, options)
  const fromFuture = future.map(({ snapshot }) => snapshot)
  return { accountId, snapshots: complete.length, bytes, fromFuture, newestSound, ...found }
}

function describeDefect(
  newestGood: Manifest,
  folders: readonly SnapshotFolder[],
): string | undefined {
  const name = newestGood.sameAs ?? newestGood.snapshot
  const holder = folders.find(({ snapshot }) => snapshot === name)
  const defect = findListedDefect(newestGood, holder?.files)
  return defect && `files of snapshot ${name} ${defect}`
}

async function findNewestSound(
  store: ObjectStore,
  past: readonly SnapshotFolder[],
  folders: readonly SnapshotFolder[],
  options: { signal?: AbortSignal | undefined },
): Promise<Manifest | undefined> {
  for (const { accountId, snapshot } of past.toReversed()) {
    const stored = await tryReadManifest(store, accountId, snapshot, options)
    if (stored instanceof ManifestError || stored.manifest.suspect !== undefined) continue
    if (describeDefect(stored.manifest, folders) === undefined) return stored.manifest
  }
  return undefined
}

async function findNewestGood(
  store: ObjectStore,
  folders: readonly SnapshotFolder[],
  options: { signal?: AbortSignal | undefined },
) {
  const suspects: { snapshot: string; reasons: readonly string[] }[] = []
  const problems: string[] = []
  let account: Partial<Manifest['account']> = {}
  const found = (newestGood?: Manifest, newestGoodAt?: Date) => {
    const { name: accountName, configuredAs } = account
    return { accountName, configuredAs, newestGood, newestGoodAt, suspects, problems }
  }
  for (const { accountId, snapshot, takenAt } of folders.toReversed()) {
    const stored = await tryReadManifest(store, accountId, snapshot, options)
    if (stored instanceof ManifestError) {
      problems.push(stored.message)
      continue
    }
    const { manifest } = stored
    if (account.name === undefined) account = manifest.account
    if (manifest.suspect === undefined) return found(manifest, takenAt)
    suspects.push({ snapshot, reasons: manifest.suspect.reasons })
  }
  return found()
}
