import { pMapIterable } from 'p-map'
import { type AccountState, findMissing, stateOf } from '../archive/account-state.ts'
import { listFolders, type SnapshotFolder, tryReadManifest } from '../archive/archive.ts'
import { splitByTime } from '../archive/future.ts'
import { type ListedObject, listObjects } from '../archive/list-objects.ts'
import { findListedDefect } from '../archive/listed-files.ts'
import { countObjects, type Manifest, ManifestError } from '../archive/manifest.ts'
import { listPins } from '../archive/pins.ts'
import type { ReadOptions } from '../archive/read-objects.ts'
import { type AccountStatus, readStatus } from '../archive/status.ts'
import type { ObjectDiff } from '../objects/diff-objects.ts'
import { type ObjectEntry, readCatalogue } from '../restore/catalogue.ts'
import { snapshotSource } from '../restore/source.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { cacheManifests, createCache } from './cache.ts'

/** What the pages show, and how. */
export interface LibraryOptions {
  readonly store: ObjectStore
  /** How objects are read; its signal ends with the server. */
  readonly read: ReadOptions & { readonly signal: AbortSignal }
  /** The configured accounts, which are missing when the archive holds nothing of them. */
  readonly configured: readonly { name: string; accountId: number | undefined }[]
  /** What the configuration calls an account, or what a manifest says that it called it. */
  readonly nameOf: (accountId: number, recorded?: string) => string | undefined
  /** Says in lines how two versions of an object differ. */
  readonly describe: (diff: ObjectDiff) => readonly string[]
  /** An older newest good snapshot is stale; undefined when none ever is. */
  readonly maxAgeMs: number | undefined
  readonly now: () => Date
}

/** An account on the first page. */
export interface AccountLine {
  readonly state: AccountState
  readonly accountId: number | undefined
  readonly name: string
  readonly status: AccountStatus | undefined
  /** Objects in the newest snapshots, oldest first; empty where that is not read. */
  readonly counts: readonly number[]
}

/** The snapshots of an account. */
export interface AccountView {
  readonly accountId: number
  readonly name: string
  /** Folders with a manifest, oldest first, those from the future included. */
  readonly folders: readonly SnapshotFolder[]
  readonly past: readonly SnapshotFolder[]
  readonly pins: ReadonlySet<string>
}

/** A snapshot with what its manifest and the listing say of it. */
export interface SnapshotLine {
  readonly folder: SnapshotFolder
  readonly manifest: Manifest | undefined
  /** What is wrong with it; undefined when nothing is known to be. */
  readonly defect: string | undefined
}

/** Reads the archive for the pages, with the same code as the commands. */
export interface Library extends LibraryOptions {
  accounts(signal: AbortSignal): Promise<AccountLine[]>
  /** Undefined when the archive holds nothing of the account. */
  account(accountId: number, signal: AbortSignal): Promise<AccountView | undefined>
  snapshots(
    view: AccountView,
    folders: readonly SnapshotFolder[],
    signal: AbortSignal,
  ): Promise<SnapshotLine[]>
  /** Every object of a snapshot, by type and title. */
  objects(manifest: Manifest): Promise<ListedObject[]>
  /** What each object of a snapshot needs. */
  catalogue(manifest: Manifest): Promise<ObjectEntry[]>
}

/** Objects whose names and needs are kept: about 50 MB. */
const MAX_OBJECTS = 100_000
/** Manifests read at once. */
const CONCURRENCY = 16
/** Snapshots whose objects the first page counts, and accounts for which it does. */
const COUNTED_SNAPSHOTS = 30
const COUNTED_ACCOUNTS = 20

/** Opens the archive for the pages. Manifests and lists of objects stay in memory, within limits. */
export function openLibrary(options: LibraryOptions): Library {
  const store = cacheManifests(options.store)
  const lists = createCache<ListedObject[]>(MAX_OBJECTS, ({ length }) => length)
  const catalogues = createCache<ObjectEntry[]>(MAX_OBJECTS, ({ length }) => length)
  const library = { ...options, store }
  return {
    ...library,
    accounts: (signal) => readAccounts(library, signal),
    account: (accountId, signal) => readAccount(library, accountId, signal),
    snapshots: (view, folders, signal) => readSnapshots(library, { view, folders, signal }),
    objects: (manifest) => lists.get(placeOf(manifest), () => readLists(library, manifest)),
    catalogue: (manifest) =>
      catalogues.get(placeOf(manifest), () =>
        readCatalogue(snapshotSource(store, manifest, options.read), () => ''),
      ),
  }
}

/** Snapshots that share their files hold the same objects. */
function placeOf({ account, sameAs, snapshot }: Manifest): string {
  return `${account.id}/${sameAs ?? snapshot}`
}

async function readLists({ store, read }: LibraryOptions, manifest: Manifest) {
  const lists: ListedObject[][] = []
  for (const { type } of manifest.exports)
    lists.push(await listObjects(store, manifest, type, read))
  return lists.flat()
}

async function readAccounts(library: LibraryOptions, signal: AbortSignal): Promise<AccountLine[]> {
  const { store, configured, nameOf, maxAgeMs } = library
  const now = library.now()
  const found = await Array.fromAsync(readStatus(store, { now, signal }))
  const lines: AccountLine[] = findMissing(configured, found).map(({ accountId, name }) => {
    return { state: 'missing', accountId, name, status: undefined, counts: [] }
  })
  for (const status of found) {
    const { accountId, configuredAs, accountName } = status
    const name = nameOf(accountId, configuredAs) ?? accountName ?? `Account ${accountId}`
    const state = stateOf(status, { now, maxAgeMs })
    const isCounted = found.length <= COUNTED_ACCOUNTS
    const counts = isCounted ? await readCounts(library, accountId, signal) : []
    lines.push({ state, accountId, name, status, counts })
  }
  return lines.toSorted((a, b) => rankOf(a) - rankOf(b) || a.name.localeCompare(b.name))
}

/** Suspects come first, whatever else is true of them. */
function rankOf({ state, status }: AccountLine): number {
  return status?.suspects.length ? -1 : urgency.indexOf(state)
}

/** The states of accounts, the one to look at first first. */
const urgency: readonly AccountState[] = [
  'suspect',
  'damaged',
  'stale',
  'missing',
  'from-future',
  'good',
]

async function readCounts(
  library: LibraryOptions,
  accountId: number,
  signal: AbortSignal,
): Promise<number[]> {
  const folders = await Array.fromAsync(listFolders(library.store, { accountId, signal }))
  const { past } = splitByTime(
    folders.filter(({ complete }) => complete),
    library.now(),
  )
  const read = ({ accountId, snapshot }: SnapshotFolder) =>
    tryReadManifest(library.store, accountId, snapshot, { signal })
  const newest = past.slice(-COUNTED_SNAPSHOTS)
  const manifests = await Array.fromAsync(pMapIterable(newest, read, { concurrency: CONCURRENCY }))
  return manifests.flatMap((one) =>
    one instanceof ManifestError ? [] : countObjects(one.manifest),
  )
}

async function readAccount(
  { store, nameOf, now }: LibraryOptions,
  accountId: number,
  signal: AbortSignal,
): Promise<AccountView | undefined> {
  const all = await Array.fromAsync(listFolders(store, { accountId, signal }))
  const folders = all.filter(({ complete }) => complete)
  const newest = folders.at(-1)
  if (newest === undefined) return undefined
  const { past } = splitByTime(folders, now())
  const [pins, stored] = await Promise.all([
    listPins(store, accountId, { signal }),
    tryReadManifest(store, accountId, (past.at(-1) ?? newest).snapshot, { signal }),
  ])
  const account = stored instanceof ManifestError ? undefined : stored.manifest.account
  const name = nameOf(accountId, account?.configuredAs) ?? account?.name ?? `Account ${accountId}`
  return { accountId, name, folders, past, pins }
}

async function readSnapshots(
  { store }: LibraryOptions,
  {
    view,
    folders,
    signal,
  }: { view: AccountView; folders: readonly SnapshotFolder[]; signal: AbortSignal },
): Promise<SnapshotLine[]> {
  const byName = new Map(view.folders.map((folder) => [folder.snapshot, folder]))
  const read = async (folder: SnapshotFolder): Promise<SnapshotLine> => {
    const stored = await tryReadManifest(store, folder.accountId, folder.snapshot, { signal })
    if (stored instanceof ManifestError)
      return { folder, manifest: undefined, defect: stored.message }
    const { manifest } = stored
    const holder = manifest.sameAs ?? manifest.snapshot
    const defect = findListedDefect(manifest, byName.get(holder)?.files)
    return { folder, manifest, defect: defect && `files of snapshot ${holder} ${defect}` }
  }
  return Array.fromAsync(pMapIterable(folders, read, { concurrency: CONCURRENCY }))
}
