import { OpenError } from '../datafile/encryption.ts'
import { DashkeepError } from '../errors.ts'
import type { RawHit } from '../export/export-scanner.ts'
import type { HitSummary } from '../export/hit-summary.ts'
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
import type { ReadOptions } from './read-objects.ts'
import { pickObjects, type SearchOptions, type StoredExport } from './stored-export.ts'

/** A text within an object that fits. */
export interface TextMatch {
  /** Members and places from the saved object on; `id` alone stands for the object's id. */
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** An object that fits, in the newest of the snapshots in which it does. */
export interface FoundObject {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  /** Newest snapshot in which it fits. */
  readonly snapshot: string
  /** Oldest snapshot in which it fits. */
  readonly since: string
  /** Where it fits: the first few places. */
  readonly matches: readonly TextMatch[]
}

/** Places named for one object. */
const MAX_MATCHES = 5

/**
 * Finds the objects of a type that hold a text: in id, title, description or any other text of the
 * saved object, nested JSON included. A pattern with `*` or `?` is a glob for any part; case does
 * not count. Exports are given oldest first. `problems` names each file that is damaged or that no
 * key opens: it is passed over, or another copy is read. Throws an `OpenError` when no key opens any.
 */
export async function findObjects(
  exports: readonly StoredExport[],
  pattern: string,
  options: ReadOptions = {},
): Promise<{ objects: FoundObject[]; problems: string[] }> {
  const problems: string[] = []
  const matches = createTextMatcher(pattern, { whole: false })
  const found = new Map<string, FoundObject>()
  const onUnreadable = ({ message }: Error) => void problems.push(message)
  const watched = watchReading({ ...options, onUnreadable })
  for (const stored of exports) {
    const { type, manifest, last } = stored
    const pick = ({ id, title }: HitSummary, { bytes }: RawHit) => {
      const { attributes } = parseSavedObject(bytes, type)
      const texts: TextMatch[] = matches(id) ? [{ path: ['id'], text: id }] : []
      collectTexts(openNested(attributes), [], matches, texts)
      return texts.length > 0 ? { id, title, texts } : undefined
    }
    const picked = await watched.pick(stored, pick)
    for (const { id, title, texts } of picked ?? []) {
      const since = found.get(id)?.since ?? manifest.snapshot
      found.delete(id)
      found.set(id, { type, id, title, snapshot: last, since, matches: texts })
    }
  }
  watched.refuseLocked()
  const objects = [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
  return { objects, problems }
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

/** An object that a question may mean. */
export interface Candidate {
  readonly type: string
  readonly id: string
  readonly title: string | undefined
  /** Newest snapshot in which it fits. */
  readonly snapshot: string
}

/**
 * Finds the one object that a question means: of all that fit, those that fit best, and there may
 * be only one. Throws a `usage` error that lists the candidates, or the nearest matches when none
 * fits. Throws an `unverified` error when a file is damaged; with `onUnreadable` only when none of the
 * others holds an object that fits. Throws an `OpenError` when no key opens any.
 */
export async function findOne(
  exports: readonly StoredExport[],
  query: ObjectQuery,
  options: SearchOptions = {},
): Promise<Candidate> {
  const nearest = createNearest(query.text)
  const watched = watchReading(options)
  let best = Number.POSITIVE_INFINITY
  let unread = 0
  const found = new Map<string, Candidate>()
  for (const stored of exports) {
    const { type, last } = stored
    const pick = ({ id, title }: HitSummary) => {
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
  if (only === undefined) throw noneFits(query, nearest.labels(), unread)
  if (others.length > 0) throw severalFit(query, [...found.values()].sort(newestFirst))
  return only
}

/**
 * Finds an object by its whole id, looking into the newest of the exports first; undefined when
 * none holds it. Throws an `unverified` error when a file is damaged; with `onUnreadable` it is passed
 * over. Throws an `OpenError` when no key opens any.
 */
export async function findById(
  exports: readonly StoredExport[],
  id: string,
  options: SearchOptions = {},
): Promise<Candidate | undefined> {
  const watched = watchReading(options)
  for (const stored of exports.toReversed()) {
    const { type, last: snapshot } = stored
    const pick = (object: HitSummary): Candidate | undefined =>
      object.id === id ? { type, id, title: object.title, snapshot } : undefined
    const found = (await watched.pick(stored, pick))?.at(-1)
    if (found !== undefined) return found
  }
  watched.refuseLocked()
  return undefined
}

/** Reads exports and remembers whether any could be read, and the first error. */
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
      pick: (object: HitSummary, hit: RawHit) => Item | undefined,
    ): Promise<Item[] | undefined> {
      const picked = await pickObjects(stored, pick, noting)
      anyRead ||= picked !== undefined
      return picked
    },
    /** Throws when nothing was read and the key is the reason: it is most likely the wrong one. */
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
  nearest.see(describe({ id, title }), title ?? id)
  nearest.see(describe({ id, title }), id)
}

function describe({ id, title }: { id: string; title: string | undefined }): string {
  return title === undefined ? id : `${id} (${title})`
}

function noneFits({ text }: ObjectQuery, alike: readonly string[], unread: number): DashkeepError {
  const where = unread > 0 ? ' in the files that can be read' : ''
  return new DashkeepError(
    `Cannot find the object ${text}: no id and no title${where} is like that`,
    {
      kind: unread > 0 ? 'unverified' : 'usage',
      hint:
        alike.length > 0
          ? `most alike are ${alike.join(', ')}`
          : '`dashkeep find` looks into objects',
    },
  )
}

/**
 * Finds the object that a text means: by its whole id among the exports of its type, else by
 * `findOne` among all. So a damaged file of another type does not matter to those who know the id.
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

/** What is gone comes last. */
function newestFirst(a: Candidate, b: Candidate): number {
  return a.snapshot < b.snapshot ? 1 : -1
}

const MAX_CANDIDATES = 10

function severalFit({ text }: ObjectQuery, found: readonly Candidate[]): DashkeepError {
  const named = found.slice(0, MAX_CANDIDATES).map(describe)
  if (found.length > MAX_CANDIDATES) named.push(`${found.length - MAX_CANDIDATES} more`)
  return new DashkeepError(`Cannot tell which object ${text} means: ${found.length} objects fit`, {
    kind: 'usage',
    hint: `say more of the title, or an id: ${named.join(', ')}`,
  })
}
