import { hash } from 'node:crypto'
import { OpenError } from '../datafile/encryption.ts'
import { DashkeepError, type ErrorKind } from '../errors.ts'
import type { RawHit } from '../export/export-scanner.ts'
import type { HitName } from '../export/hit-summary.ts'
import type { JsonObject, JsonValue } from '../objects/lossless-json.ts'
import {
  createNearest,
  createObjectQuery,
  createTextMatcher,
  type ObjectQuery,
} from '../objects/match-object.ts'
import { splitId } from '../objects/object-id.ts'
import { openNested } from '../objects/open-nested.ts'
import { parseSavedObject } from '../objects/saved-object.ts'
import { compareValues } from '../order.ts'
import type { ReadOptions } from './read-objects.ts'
import { pickObjects, type SearchOptions, type StoredExport } from './stored-export.ts'

/** A matching text in an object. */
interface TextMatch {
  /** Path from the saved object: names of members and indexes. `id` alone is the object's id. */
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** An object with matching texts. */
export interface FoundObject {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  /** Newest snapshot in which it matches. */
  readonly snapshot: string
  /** Oldest snapshot in which it matches. */
  readonly since: string
  /** The first matching texts, at most 5. */
  readonly matches: readonly TextMatch[]
}

/** Matching texts that are reported for one object. */
const MAX_MATCHES = 5

/** A search for a text, one export after the other. */
export interface TextSearch {
  /**
   * Searches one more export, from the object with the number `from` on. They may come in any order.
   * Asks `isOver` before each object, stops when it returns true, and returns the number of that object.
   * Objects of a file that was not read to its end are not proven. Returns undefined when the whole
   * export was searched.
   */
  see(
    stored: StoredExport,
    options?: { from?: number; isOver?: () => boolean },
  ): Promise<number | undefined>
  /** The number of objects found until now. */
  size(): number
  /**
   * What was found, by id. Throws an `OpenError` when no file could be read and the key is the reason.
   */
  finish(): { objects: FoundObject[]; problems: string[] }
}

/** Objects whose last bytes are remembered. */
const MAX_REMEMBERED = 50_000

/**
 * Begins to search for the objects whose id or any text of the saved object matches a pattern, also in
 * nested JSON. Ignores case. A pattern with `*` or `?` is a glob for a part of a text. Skips files that
 * are damaged or that no key opens, or reads another copy of them, and lists them in `problems`. An
 * object with the same bytes as in the export before is not parsed again.
 */
export function createTextSearch(pattern: string, options: ReadOptions = {}): TextSearch {
  const problems: string[] = []
  const matches = createTextMatcher(pattern, { whole: false })
  const found = new Map<string, FoundObject>()
  const remembered = new Map<string, { digest: string; texts: readonly TextMatch[] }>()
  /** The file that is being searched: the number of the next object, and the first to search. */
  let current = { picked: [] as FoundObject[], next: 0, from: 0, canStop: true }
  const onUnreadable = ({ message }: Error) => {
    problems.push(message)
    // The copy that is read next may have the objects in another order: it is searched as a whole.
    current = { picked: [], next: 0, from: 0, canStop: false }
  }
  const watched = watchReading({ ...options, onUnreadable })
  const search = (type: string, id: string, bytes: Uint8Array): readonly TextMatch[] => {
    const digest = hash('sha256', bytes, 'base64')
    const known = remembered.get(id)
    if (known?.digest === digest) return known.texts
    const texts: TextMatch[] = matches(id) ? [{ path: ['id'], text: id }] : []
    collectTexts(openNested(parseSavedObject(bytes, type).attributes), [], matches, texts)
    if (remembered.size < MAX_REMEMBERED || known !== undefined) {
      remembered.set(id, { digest, texts })
    }
    return texts
  }
  return {
    async see(stored, { from = 0, isOver = () => false } = {}) {
      const { type, manifest, last } = stored
      current = { picked: [], next: 0, from, canStop: true }
      const stop = new AbortController()
      const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])])
      const pick = ({ id, title }: HitName, { bytes }: RawHit) => {
        // At least one object is searched, so that the next search begins after it.
        if (current.canStop && current.next > current.from && isOver()) stop.abort()
        signal.throwIfAborted()
        if (current.next >= current.from) {
          const texts = search(type, id, bytes)
          const one = { type, id, title, snapshot: last, since: manifest.snapshot, matches: texts }
          if (texts.length > 0) current.picked.push(one)
        }
        current.next += 1
        return undefined
      }
      try {
        await watched.pick(stored, pick, signal)
      } catch (error) {
        options.signal?.throwIfAborted()
        if (!stop.signal.aborted) throw error
      }
      const { picked, next } = current
      current.picked = []
      for (const one of picked) found.set(one.id, joinFound(found.get(one.id), one))
      return stop.signal.aborted ? next : undefined
    },
    size: () => found.size + current.picked.length,
    finish() {
      watched.refuseLocked()
      return { objects: [...found.values()].sort((a, b) => compareValues(a.id, b.id)), problems }
    },
  }
}

/** Keeps the newer one, since the older. */
function joinFound(one: FoundObject | undefined, other: FoundObject): FoundObject {
  if (one === undefined) return other
  const since = one.since < other.since ? one.since : other.since
  return { ...(one.snapshot > other.snapshot ? one : other), since }
}

/** Searches exports as `createTextSearch` says. */
export async function findObjects(
  exports: readonly StoredExport[],
  pattern: string,
  options: ReadOptions = {},
): Promise<{ objects: FoundObject[]; problems: string[] }> {
  const search = createTextSearch(pattern, options)
  for (const stored of exports) await search.see(stored)
  return search.finish()
}

function collectTexts(
  value: JsonValue,
  path: readonly (string | number)[],
  matches: (text: string) => boolean,
  texts: TextMatch[],
): void {
  if (texts.length === MAX_MATCHES) return
  if (typeof value === 'string') {
    if (matches(value)) texts.push({ path, text: value })
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectTexts(item, [...path, index], matches, texts)
  } else if (value instanceof Map) {
    for (const [name, item] of value as JsonObject) {
      collectTexts(item, [...path, name], matches, texts)
    }
  }
}

/** An object that a text may mean. */
export interface Candidate {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  /** Newest snapshot in which it matches. */
  readonly snapshot: string
}

/**
 * Finds the one object that matches best. Throws a `usage` error that lists the candidates when
 * several match equally well, or the nearest objects when none matches. Throws an `unverified` error
 * when a file is damaged; with `onUnreadable`, only when no object in the other files matches. Throws
 * an `OpenError` when no file could be read and the key is the reason. `unreadBefore` is the number of
 * files, such as manifests, that could not be read before: they too may hold the object.
 */
export async function findOne(
  exports: readonly StoredExport[],
  query: ObjectQuery,
  { unreadBefore = 0, ...options }: SearchOptions & { unreadBefore?: number } = {},
): Promise<Candidate> {
  const nearest = createNearest(query.text)
  const watched = watchReading(options)
  let best = Number.POSITIVE_INFINITY
  let unread = unreadBefore
  const found = new Map<string, Candidate>()
  for (const stored of exports) {
    const { type, last } = stored
    const pick = ({ id, title }: HitName) => {
      const rank = query.rank({ id, title })
      if (rank === undefined && best === Number.POSITIVE_INFINITY) seeBoth(nearest, id, title)
      return rank === undefined || rank > best ? undefined : { id, title, rank }
    }
    const picked = await watched.pick(stored, pick)
    if (picked === undefined) unread += 1
    for (const { id, title, rank } of picked ?? []) {
      if (rank < best) found.clear()
      best = Math.min(rank, best)
      if (rank === best) found.set(id, { type, id, title, snapshot: last })
    }
  }
  watched.refuseLocked()
  const [only, ...others] = found.values()
  const where = unread > 0 ? ' in the files that can be read' : ''
  if (only === undefined) {
    const kind = unread > 0 ? 'unverified' : 'usage'
    throw noneFits(query.text, nearest.labels(), { where, kind })
  }
  if (others.length > 0) {
    throw severalFit(query.text, [...found.values()].sort(newestFirst), { where })
  }
  return only
}

/**
 * Finds an object by its whole id, in the newest export first. Returns undefined when no export has
 * it. Throws an `unverified` error when a file is damaged; with `onUnreadable`, skips the file. Throws
 * an `OpenError` when no file could be read and the key is the reason.
 */
export async function findById(
  exports: readonly StoredExport[],
  id: string,
  options: SearchOptions = {},
): Promise<Candidate | undefined> {
  const watched = watchReading(options)
  for (const stored of exports.toReversed()) {
    const { type, last: snapshot } = stored
    const pick = (object: HitName): Candidate | undefined =>
      object.id === id ? { type, id, title: object.title, snapshot } : undefined
    const found = (await watched.pick(stored, pick))?.at(-1)
    if (found !== undefined) return found
  }
  watched.refuseLocked()
  return undefined
}

/** Reads exports, and remembers whether any could be read and the first error. */
function watchReading({ onUnreadable, ...options }: SearchOptions) {
  let anyRead = false
  let first: DashkeepError | undefined
  const noting: SearchOptions = {
    ...options,
    ...(onUnreadable && {
      onUnreadable(error) {
        first ??= error
        onUnreadable(error)
      },
    }),
  }
  return {
    async pick<Item>(
      stored: StoredExport,
      pick: (object: HitName, hit: RawHit) => Item | undefined,
      signal = options.signal,
    ): Promise<Item[] | undefined> {
      const picked = await pickObjects(
        stored,
        (object, hit) => {
          anyRead = true
          return pick(object, hit)
        },
        { ...noting, signal },
      )
      anyRead ||= picked !== undefined
      return picked
    },
    /** Throws when no file could be read because of the key, which is then probably wrong. */
    refuseLocked(): void {
      if (!anyRead && first instanceof OpenError) throw first
    },
  }
}

function seeBoth(
  nearest: ReturnType<typeof createNearest>,
  id: string,
  title: string | undefined,
): void {
  nearest.see(describeObject({ id, title }), title ?? id)
  nearest.see(describeObject({ id, title }), id)
}

/** An object's id, with its title when it has one. */
export function describeObject({ id, title }: Pick<Candidate, 'id' | 'title'>): string {
  return title === undefined ? id : `${id} (${title})`
}

/**
 * The error for a text that means no object. `where` follows "no id or title"; `nearest` are the
 * objects whose ids and titles are most similar.
 */
export function noneFits(
  text: string,
  nearest: readonly string[],
  { where = '', kind = 'usage' }: { where?: string; kind?: ErrorKind } = {},
): DashkeepError {
  return new DashkeepError(`Cannot find the object ${text}: no id or title${where} matches`, {
    kind,
    hint:
      nearest.length > 0
        ? `the most similar objects are ${nearest.join(', ')}`
        : '`dashkeep find` searches the content of objects',
  })
}

/**
 * Finds the object that a text means. Looks first for this id in the exports of its type, so that a
 * damaged file of another type does no harm. Then looks in all exports with `findOne`.
 */
export async function findNamed(
  exports: readonly StoredExport[],
  text: string,
  options: ReadOptions = {},
): Promise<Candidate> {
  const type = splitId(text)?.type
  const ofType = exports.filter((stored) => stored.type === type)
  return (
    (await findById(ofType, text, options)) ?? findOne(exports, createObjectQuery(text), options)
  )
}

/** Sorts by the newest snapshot, so that deleted objects come last. */
function newestFirst(a: Candidate, b: Candidate): number {
  return compareValues(b.snapshot, a.snapshot)
}

/** Objects that an error names. */
const MAX_CANDIDATES = 10

/** The error for a text that means several objects. `where` follows their number. */
export function severalFit(
  text: string,
  found: readonly Pick<Candidate, 'id' | 'title'>[],
  { where = '' }: { where?: string } = {},
): DashkeepError {
  const named = found.slice(0, MAX_CANDIDATES).map(describeObject)
  if (found.length > MAX_CANDIDATES) named.push(`${found.length - MAX_CANDIDATES} more`)
  return new DashkeepError(
    `Cannot tell which object ${text} means: ${found.length} objects${where} match`,
    { kind: 'usage', hint: `give more of the title, or an id: ${named.join(', ')}` },
  )
}
