import { readAccountId } from '../../account-id.ts'
import { createTextSearch, type FoundObject, type TextSearch } from '../../archive/find.ts'
import type { Manifest } from '../../archive/manifest.ts'
import { exportsOf, type StoredExport } from '../../archive/stored-export.ts'
import { readTimeline } from '../../archive/timeline.ts'
import { DashkeepError } from '../../errors.ts'
import { compareValues } from '../../order.ts'
import type { AccountView, Library } from '../library.ts'

/** A text to search for, and where to begin. */
interface Search {
  readonly text: string
  /** Where an earlier page ended, as its `Ending` says; empty for the first page. */
  readonly from: string
  readonly signal: AbortSignal
}

/** Where a page of a search ended: before an object of an export. */
export interface Ending {
  readonly stored: StoredExport
  /** The number of the next object of the export. */
  readonly object: number
  /** The same place, as text for the address of the next page. */
  readonly from: string
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
  /** Undefined when everything was searched. */
  readonly ending: Ending | undefined
}

/** A page ends after this time, in milliseconds, or with so many objects. */
const MAX_MS = 4000
const MAX_FOUND = 300

/** Shown soon after the start of the server, while it reads the state of many accounts. */
const notListed = 'Not all accounts are listed yet: load this page again in a moment'

/** Searches one snapshot. */
export async function searchSnapshot(
  library: Library,
  { view, manifest }: { view: AccountView; manifest: Manifest },
  { text, from, signal }: Search,
): Promise<Findings> {
  const search = createTextSearch(text, { ...library.read, signal })
  const exports = exportsOf(library.store, manifest)
  const ending = await searchInTurn(search, exports, { from, isOver: startClock(library) })
  const { objects, problems } = search.finish()
  return { objects: objects.map((one) => presentIn(view, one)), problems, ending }
}

/** Searches the newest good snapshot of each account, in the order of their ids. */
export async function searchAll(
  library: Library,
  { text, from, signal }: Search,
): Promise<Findings> {
  const { lines, readAt } = await library.overview.accounts()
  const first = readPlace(from)?.accountId ?? 0
  const accounts = lines
    .flatMap(({ accountId, name, status }) => {
      const manifest = status?.newestSound ?? status?.newestGood
      return accountId !== undefined && manifest ? [{ accountId, name, manifest }] : []
    })
    .filter(({ accountId }) => accountId >= first)
    .toSorted((one, other) => one.accountId - other.accountId)
  const isOver = startClock(library)
  const found: Finding[] = []
  const problems = readAt === undefined ? [notListed] : []
  for (const [nth, { manifest, ...account }] of accounts.entries()) {
    const exports = exportsOf(library.store, manifest)
    const [next] = exports
    if (nth > 0 && next !== undefined && isOver(found.length)) {
      return { objects: found, problems, ending: endBefore(next) }
    }
    const search = createTextSearch(text, { ...library.read, signal })
    const ending = await searchInTurn(search, exports, {
      from: account.accountId === first ? from : '',
      isOver: (more) => isOver(found.length + more),
    })
    const one = search.finish()
    problems.push(...one.problems)
    found.push(...one.objects.map((object) => presentIn(account, object)))
    if (ending !== undefined) return { objects: found, problems, ending }
  }
  return { objects: found, problems, ending: undefined }
}

function presentIn(
  { accountId, name }: Pick<AccountView, 'accountId' | 'name'>,
  object: FoundObject,
): Finding {
  return { ...object, accountId, accountName: name, now: 'fits' }
}

/** Searches all snapshots of an account, the newest first, so that what was deleted is found. */
export async function searchAccount(
  library: Library,
  view: AccountView,
  { text, from, signal }: Search,
): Promise<Findings> {
  const timeline = await readTimeline(library.store, view.past, { signal })
  const exports = timeline.types
    .flatMap((type) => timeline.stretches(type))
    .toSorted((one, other) => compareValues(other.last, one.last))
  const search = createTextSearch(text, { ...library.read, signal })
  const ending = await searchInTurn(search, exports, { from, isOver: startClock(library) })
  const newest = exports[0]?.last ?? ''
  const { objects, problems } = search.finish()
  const present = await readPresent(library, view, newest, objects)
  const found = objects.map((one): Finding => {
    const now = one.snapshot === newest ? 'fits' : stateIn(present, one)
    return { ...presentIn(view, one), now }
  })
  const unreadable = from === '' ? timeline.unreadable.map(({ message }) => message) : []
  return { objects: found.toSorted(newestFirst), problems: [...unreadable, ...problems], ending }
}

/**
 * Searches exports one after the other, from the place `from` on. Returns where it ended when `isOver`
 * says so, which is asked with the number of objects found.
 */
async function searchInTurn(
  search: TextSearch,
  exports: readonly StoredExport[],
  { from, isOver }: { from: string; isOver: (found: number) => boolean },
): Promise<Ending | undefined> {
  const place = readPlace(from)
  const { begin, object } = place ? findPlace(exports, place) : { begin: 0, object: 0 }
  const isOverNow = () => isOver(search.size())
  for (const [nth, stored] of exports.slice(begin).entries()) {
    if (nth > 0 && isOverNow()) return endBefore(stored)
    const next = await search.see(stored, { from: nth === 0 ? object : 0, isOver: isOverNow })
    if (next !== undefined) return endBefore(stored, next)
  }
  return undefined
}

function endBefore(stored: StoredExport, object = 0): Ending {
  const { account, snapshot } = stored.manifest
  return { stored, object, from: [account.id, snapshot, stored.type, object].join('/') }
}

interface Place {
  readonly accountId: number
  /** The first snapshot with the objects of the export. Newer snapshots leave it as it is. */
  readonly snapshot: string
  readonly type: string
  readonly object: number
}

/** Reads the place that an address names; undefined when it names none. */
function readPlace(from: string): Place | undefined {
  const [account = '', snapshot = '', type = '', object = ''] = from.split('/')
  const accountId = readAccountId(account)
  if (accountId === undefined || !/^\d{1,9}$/.test(object)) return undefined
  return { accountId, snapshot, type, object: Number(object) }
}

/**
 * The export of a place. When its snapshot was removed since, the whole export that held the place, or
 * else the first one.
 */
function findPlace(exports: readonly StoredExport[], { snapshot, type, object }: Place) {
  const own = exports.findIndex((one) => one.manifest.snapshot === snapshot && one.type === type)
  if (own >= 0) return { begin: own, object }
  const later = exports.findLastIndex((one) => one.type === type && one.last >= snapshot)
  return { begin: Math.max(0, later), object: 0 }
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

/** Whether the newest snapshot holds an object that it shows differently. */
function stateIn(present: Set<string> | undefined, { type, id }: FoundObject): Finding['now'] {
  if (present === undefined) return 'unknown'
  return present.has(`${type} ${id}`) ? 'differs' : 'gone'
}

function newestFirst(one: FoundObject, other: FoundObject): number {
  return compareValues(other.snapshot, one.snapshot) || compareValues(one.id, other.id)
}

/**
 * Says when a page has searched long enough, or found enough. The time begins with the first question,
 * so that reading up to the place where an earlier page ended does not count.
 */
function startClock({ now }: Library): (found: number) => boolean {
  let start: number | undefined
  return (found) => {
    start ??= now().getTime()
    return found >= MAX_FOUND || now().getTime() - start > MAX_MS
  }
}
