import { createTextSearch, type FoundObject } from '../../archive/find.ts'
import type { Manifest } from '../../archive/manifest.ts'
import { exportsOf } from '../../archive/stored-export.ts'
import { readTimeline } from '../../archive/timeline.ts'
import { DashkeepError } from '../../errors.ts'
import type { AccountView, Library } from '../library.ts'

/** What is searched for, and where an earlier page ended; empty for the first one. */
export interface Search {
  readonly text: string
  readonly from: string
  readonly signal: AbortSignal
}

/** An object that a search found. */
export interface Finding extends FoundObject {
  readonly accountId: number
  readonly accountName: string
  /** Whether the newest snapshot holds the object and it still fits; `unknown` when it cannot be read. */
  readonly now: 'fits' | 'differs' | 'gone' | 'unknown'
}

/** What one page of a search found. */
export interface Findings {
  readonly objects: readonly Finding[]
  /** What could not be read. */
  readonly problems: readonly string[]
  /** Where the next page continues; undefined when everything was searched. */
  readonly next: string | undefined
}

/** A page ends after this time, in milliseconds, or with so many objects. */
const MAX_MS = 4000
const MAX_FOUND = 300

/** Reading the state of many accounts takes a while after the server has started. */
const notListed = 'Not all accounts are listed yet: load this page again in a moment'

/** Searches one snapshot. */
export async function searchSnapshot(
  library: Library,
  { view, manifest }: { view: AccountView; manifest: Manifest },
  { text, signal }: Search,
): Promise<Findings> {
  const { objects, problems } = await searchManifest(library, manifest, { text, signal })
  const { accountId, name: accountName } = view
  const found = objects.map((one) => ({ ...one, accountId, accountName, now: 'fits' as const }))
  return { objects: found, problems, next: undefined }
}

/** Searches the newest good snapshot of each account, in the order of their ids. */
export async function searchAll(
  library: Library,
  { text, from, signal }: Search,
): Promise<Findings> {
  const { lines, readAt } = await library.overview.accounts()
  const accounts = lines
    .flatMap(({ accountId, name, status }) => {
      const manifest = status?.newestSound ?? status?.newestGood
      return accountId !== undefined && manifest ? [{ accountId, name, manifest }] : []
    })
    .filter(({ accountId }) => accountId >= Number(from || 0))
    .toSorted((one, other) => one.accountId - other.accountId)
  const isOver = startClock(library)
  const found: Finding[] = []
  const problems = readAt === undefined ? [notListed] : []
  for (const [nth, { accountId, name: accountName, manifest }] of accounts.entries()) {
    const one = await searchManifest(library, manifest, { text, signal })
    problems.push(...one.problems)
    found.push(...one.objects.map((o) => ({ ...o, accountId, accountName, now: 'fits' as const })))
    const next = accounts[nth + 1]
    if (next !== undefined && isOver(found.length)) {
      return { objects: found, problems, next: String(next.accountId) }
    }
  }
  return { objects: found, problems, next: undefined }
}

/** Searches all snapshots of an account, the newest first, so that what was deleted is found. */
export async function searchAccount(
  library: Library,
  view: AccountView,
  { text, from, signal }: Search,
): Promise<Findings> {
  const timeline = await readTimeline(library.store, view.past, { signal })
  const stretches = timeline.types.flatMap((type) => timeline.stretches(type))
  const left = stretches
    .filter(({ last }) => from === '' || last <= from)
    .toSorted((one, other) => (one.last > other.last ? -1 : 1))
  const search = createTextSearch(text, { ...library.read, signal })
  const isOver = startClock(library)
  let next: string | undefined
  for (const [nth, stretch] of left.entries()) {
    signal.throwIfAborted()
    // What ends with the same snapshot belongs together.
    if (nth > 0 && left[nth - 1]?.last !== stretch.last && isOver(search.size())) {
      next = stretch.last
      break
    }
    await search.see(stretch)
  }
  const newest = stretches.reduce((name, { last }) => (last > name ? last : name), '')
  const { objects, problems } = search.finish()
  const present = await readPresent(library, view, newest, objects)
  const { accountId, name: accountName } = view
  const found = objects.map((one): Finding => {
    const isThere = present?.has(`${one.type} ${one.id}`)
    const now = isThere === undefined ? 'unknown' : isThere ? 'differs' : 'gone'
    return { ...one, accountId, accountName, now: one.snapshot === newest ? 'fits' : now }
  })
  const unreadable = from === '' ? timeline.unreadable.map(({ message }) => message) : []
  return { objects: found.toSorted(newestFirst), problems: [...unreadable, ...problems], next }
}

/**
 * The objects of the newest snapshot, read only when something does not fit there any more. Undefined
 * when it cannot be read.
 */
async function readPresent(
  library: Library,
  { newest: manifest }: AccountView,
  newest: string,
  objects: readonly FoundObject[],
): Promise<Set<string> | undefined> {
  if (manifest === undefined || objects.every(({ snapshot }) => snapshot === newest))
    return new Set()
  const listed = await library.objects(manifest).catch((error) => {
    if (error instanceof DashkeepError) return undefined
    throw error
  })
  return listed && new Set(listed.map(({ type, id }) => `${type} ${id}`))
}

/** Searches the objects of one snapshot. */
export async function searchManifest(
  { store, read }: Library,
  manifest: Manifest,
  { text, signal }: { text: string; signal: AbortSignal },
) {
  const search = createTextSearch(text, { ...read, signal })
  for (const stored of exportsOf(store, manifest)) {
    signal.throwIfAborted()
    await search.see(stored)
  }
  return search.finish()
}

function newestFirst(one: FoundObject, other: FoundObject): number {
  if (one.snapshot !== other.snapshot) return one.snapshot > other.snapshot ? -1 : 1
  return one.id < other.id ? -1 : 1
}

/** Says when a page has searched long enough, or found enough. */
function startClock({ now }: Library): (found: number) => boolean {
  const start = now().getTime()
  return (found) => found >= MAX_FOUND || now().getTime() - start > MAX_MS
}
