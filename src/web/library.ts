import { pMapIterable } from 'p-map'
import { listFolders, type SnapshotFolder, tryReadManifest } from '../archive/archive.ts'
import { type FoundObject, findObjects } from '../archive/find.ts'
import { splitByTime } from '../archive/future.ts'
import { type ListedObject, listObjects } from '../archive/list-objects.ts'
import { findListedDefect } from '../archive/listed-files.ts'
import { countContentBytes, type Manifest, ManifestError } from '../archive/manifest.ts'
import { listPins } from '../archive/pins.ts'
import { exportsOf } from '../archive/stored-export.ts'
import type { ProofJudgement } from '../proofs/judge.ts'
import { judgeAllProofs } from '../proofs/judge-all.ts'
import type { ProofSummary } from '../proofs/proof.ts'
import { type ObjectEntry, readCatalogue } from '../restore/catalogue.ts'
import { snapshotSource } from '../restore/source.ts'
import { cacheManifests, createCache } from './cache.ts'
import { createLiveExports, type LiveExports } from './compare/live.ts'
import { type KnownCopy, watchCopies } from './copies.ts'
import type { LibraryOptions } from './library-options.ts'
import { type Overview, openOverview } from './overview.ts'

/** The snapshots of an account. */
export interface AccountView {
  readonly accountId: number
  readonly name: string
  /** Folders with a manifest, oldest first, those from the future included. */
  readonly folders: readonly SnapshotFolder[]
  readonly past: readonly SnapshotFolder[]
  /** The manifest of the newest snapshot; undefined when it cannot be read. */
  readonly newest: Manifest | undefined
  readonly pins: ReadonlySet<string>
  /** What its proof records prove. */
  readonly proofs: ProofJudgement
  /** When this was read. Snapshots and pins may have been added or removed since. */
  readonly listedAt: Date
}

/** A snapshot with what its manifest and the listing say of it. */
export interface SnapshotLine {
  readonly folder: SnapshotFolder
  readonly manifest: Manifest | undefined
  /** What is wrong with it; undefined when nothing is known to be. */
  readonly defect: string | undefined
}

/** Where the objects of a snapshot contain a text. */
export interface TextPlaces {
  /** By id. */
  readonly objects: ReadonlyMap<string, Pick<FoundObject, 'matches'>>
  /** What could not be read. */
  readonly problems: readonly string[]
}

/** Reads the archive for the pages, with the same code as the commands. */
export interface Library extends Omit<LibraryOptions, 'copies'> {
  readonly overview: Overview
  /**
   * Undefined when the archive holds nothing of the account. A listing is kept for a minute, unless
   * it lacks `snapshot`.
   */
  account(
    accountId: number,
    signal: AbortSignal,
    snapshot?: string,
  ): Promise<AccountView | undefined>
  /** Lists the account again when it is next asked for. */
  forget(accountId: number): void
  snapshots(
    view: AccountView,
    folders: readonly SnapshotFolder[],
    signal: AbortSignal,
  ): Promise<SnapshotLine[]>
  /** Every object of a snapshot, by type and title. */
  objects(manifest: Manifest): Promise<ListedObject[]>
  /**
   * Begins to read the objects of the newest snapshot: who sees the account often opens it next. Does
   * nothing while another snapshot is read ahead, so that many accounts at once do not fill the memory.
   */
  readAhead(view: AccountView): void
  /** Searches the objects of a snapshot as `findObjects` does. */
  search(manifest: Manifest, text: string): Promise<TextPlaces>
  /** What each object of a snapshot needs. */
  catalogue(manifest: Manifest): Promise<ObjectEntry[]>
  /** The copies of the archive, as far as they are known. Reads in the background what is too old. */
  copies(): readonly KnownCopy[]
  /** The present objects of accounts. */
  readonly live: LiveExports
}

/** Objects whose names and needs are kept: about 50 MB. */
const MAX_OBJECTS = 100_000
/** Characters of texts that searches found and that are kept: at most 16 MB. */
const MAX_FOUND_CHARACTERS = 8_000_000
/** Characters that are added for each kept search, and for each of its texts. */
const OVERHEAD = 250
/** Manifests read at once. */
const CONCURRENCY = 16
/** Snapshots of listed accounts that are kept: about 8 MB. */
const MAX_SNAPSHOTS = 5_000
/** A listing of an account is kept for so long, and one that lacks a snapshot for so long. */
const LISTING_MS = 60_000
const LACKING_MS = 5_000
/** Largest snapshot, in bytes of its exports, that is read ahead. */
const MAX_AHEAD_BYTES = 16 * 1024 * 1024
/** How long a page waits for what is read in the background. */
const PATIENCE_MS = 500

/** Opens the archive for the pages. Manifests and lists of objects stay in memory, within limits. */
export function openLibrary(
  options: LibraryOptions,
  { patienceMs = PATIENCE_MS }: { patienceMs?: number } = {},
): Library {
  const store = cacheManifests(options.store)
  const lists = createCache<ListedObject[]>(MAX_OBJECTS, ({ length }) => length)
  const catalogues = createCache<ObjectEntry[]>(MAX_OBJECTS, ({ length }) => length)
  const searches = createCache<TextPlaces>(MAX_FOUND_CHARACTERS, sizeOfPlaces)
  const library = { ...options, store, known: new Map<string, ProofSummary>() }
  const objects = (manifest: Manifest) =>
    lists.get(placeOf(manifest), () => readLists(library, manifest))
  let isReadingAhead = false
  return {
    ...library,
    overview: openOverview(library, { patienceMs }),
    ...createListings(library),
    snapshots: (view, folders, signal) => readSnapshots(library, { view, folders, signal }),
    objects,
    readAhead({ newest }) {
      if (isReadingAhead || newest === undefined) return
      if (countContentBytes(newest) > MAX_AHEAD_BYTES) return
      isReadingAhead = true
      const end = () => {
        isReadingAhead = false
      }
      // After a failure, the page of the snapshot reads again and says what is wrong.
      objects(newest).then(end, end)
    },
    search: (manifest, text) =>
      searches.get(`${placeOf(manifest)} ${text}`, () => searchText(library, manifest, text)),
    catalogue: (manifest) =>
      catalogues.get(placeOf(manifest), () =>
        readCatalogue(snapshotSource(store, manifest, options.read), () => ''),
      ),
    copies: watchCopies(options.copies, options.now),
    live: createLiveExports(options.service, { now: options.now, signal: options.read.signal }),
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

async function searchText(
  { store, read }: LibraryOptions,
  manifest: Manifest,
  text: string,
): Promise<TextPlaces> {
  const { objects, problems } = await findObjects(exportsOf(store, manifest), text, read)
  return { objects: new Map(objects.map(({ id, matches }) => [id, { matches }])), problems }
}

/** Undefined for a search that lacks files: they may be repaired. */
function sizeOfPlaces({ objects, problems }: TextPlaces): number | undefined {
  if (problems.length > 0) return undefined
  let size = OVERHEAD
  for (const { matches } of objects.values()) {
    for (const { text } of matches) size += OVERHEAD + text.length
  }
  return size
}

/** What the listings are read with. */
interface Reading extends LibraryOptions {
  /** The proof records that have been read. They never change. */
  readonly known: Map<string, ProofSummary>
}

/** Keeps the listings of accounts for a while: the pages of one account need the same one. */
function createListings(library: Reading): Pick<Library, 'account' | 'forget'> {
  const { now, read } = library
  const listings = createCache<{ view: AccountView | undefined; listedAt: Date }>(
    MAX_SNAPSHOTS,
    ({ view }) => 1 + (view?.folders.length ?? 0),
  )
  const list = (accountId: number) =>
    listings.get(String(accountId), async () => {
      const listedAt = now()
      // A reader who leaves does not end the listing: others wait for the same one.
      return { listedAt, view: await readAccount(library, accountId, listedAt, read.signal) }
    })
  return {
    async account(accountId, signal, snapshot) {
      const { view, listedAt } = await list(accountId)
      signal.throwIfAborted()
      const lacks =
        snapshot !== undefined && !view?.folders.some((one) => one.snapshot === snapshot)
      const ageMs = now().getTime() - listedAt.getTime()
      if (ageMs >= 0 && ageMs < (lacks ? LACKING_MS : LISTING_MS)) return view
      listings.remove(String(accountId))
      return (await list(accountId)).view
    },
    forget: (accountId) => listings.remove(String(accountId)),
  }
}

async function readAccount(
  { store, nameOf, known }: Reading,
  accountId: number,
  listedAt: Date,
  signal: AbortSignal,
): Promise<AccountView | undefined> {
  const all = await Array.fromAsync(listFolders(store, { accountId, signal }))
  const folders = all.filter(({ complete }) => complete)
  const newest = folders.at(-1)
  if (newest === undefined) return undefined
  const { past } = splitByTime(folders, listedAt)
  const [pins, proofs, stored] = await Promise.all([
    listPins(store, accountId, { signal }),
    judgeAllProofs(store, { now: listedAt, accountId, known, signal }),
    tryReadManifest(store, accountId, (past.at(-1) ?? newest).snapshot, { signal }),
  ])
  const manifest = stored instanceof ManifestError ? undefined : stored.manifest
  const account = manifest?.account
  const name = nameOf(accountId, account?.configuredAs) ?? account?.name ?? `Account ${accountId}`
  const judged = { pins, proofs: proofs.of(accountId), listedAt }
  return { accountId, name, folders, past, newest: manifest, ...judged }
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
