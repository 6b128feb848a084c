import { DashkeepError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../objects/lossless-json.ts'
import { createNearest, createTextMatcher, type ObjectQuery } from '../objects/match-object.ts'
import { openNested } from '../objects/open-nested.ts'
import { parseSavedObject } from '../objects/saved-object.ts'
import { type ReadOptions, scanObjects } from './read-objects.ts'
import type { StoredExport } from './timeline.ts'

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
 * not count. Exports are given oldest first. A file that is damaged is passed over and named.
 */
export async function findObjects(
  exports: readonly StoredExport[],
  pattern: string,
  options: ReadOptions = {},
): Promise<{ objects: FoundObject[]; problems: string[] }> {
  const problems: string[] = []
  const matches = createTextMatcher(pattern, { whole: false })
  const found = new Map<string, FoundObject>()
  for (const { store, manifest, type, last } of exports) {
    const problem = await scanIfSound(store, manifest, type, {
      ...options,
      onObject({ id, title }, { bytes }) {
        const { attributes } = parseSavedObject(bytes, type)
        const texts = matches(id) ? [{ path: ['id'], text: id }] : []
        collectTexts(openNested(attributes), [], matches, texts)
        if (texts.length === 0) return
        const since = found.get(id)?.since ?? manifest.snapshot
        found.delete(id)
        found.set(id, { type, id, title, snapshot: last, since, matches: texts })
      },
    })
    if (problem !== undefined) problems.push(problem)
  }
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
    for (const [place, item] of value.entries())
      collectTexts(item, [...path, place], matches, texts)
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
 * fits. A file that is damaged is passed over.
 */
export async function findOne(
  exports: readonly StoredExport[],
  query: ObjectQuery,
  options: ReadOptions = {},
): Promise<Candidate> {
  const nearest = createNearest(query.text)
  let best = Number.POSITIVE_INFINITY
  const found = new Map<string, Candidate>()
  for (const { store, manifest, type, last } of exports) {
    await scanIfSound(store, manifest, type, {
      ...options,
      onObject({ id, title }) {
        const rank = query.rank({ id, title })
        if (rank === undefined) {
          if (best === Number.POSITIVE_INFINITY) seeBoth(nearest, id, title)
          return
        }
        if (rank < best) found.clear()
        best = Math.min(rank, best)
        if (rank === best) found.set(id, { type, id, title, snapshot: last })
      },
    })
  }
  const [only, ...others] = found.values()
  if (only === undefined) throw noneFits(query, nearest.labels())
  if (others.length > 0) throw severalFit(query, [...found.values()].sort(newestFirst))
  return only
}

/**
 * Finds an object by its whole id, looking into the newest of the exports first; undefined when
 * none holds it. A file that is damaged is passed over.
 */
export async function findById(
  exports: readonly StoredExport[],
  id: string,
  options: ReadOptions = {},
): Promise<Candidate | undefined> {
  for (const { store, manifest, type, last } of exports.toReversed()) {
    let found: Candidate | undefined
    await scanIfSound(store, manifest, type, {
      ...options,
      onObject(object) {
        if (object.id === id) found = { type, id, title: object.title, snapshot: last }
      },
    })
    if (found !== undefined) return found
  }
  return undefined
}

/** Reads an export; says what is wrong with it when it is damaged. */
async function scanIfSound(...args: Parameters<typeof scanObjects>): Promise<string | undefined> {
  try {
    await scanObjects(...args)
    return undefined
  } catch (error) {
    if (error instanceof DashkeepError && error.kind === 'unverified') return error.message
    throw error
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

function noneFits({ text }: ObjectQuery, alike: readonly string[]): DashkeepError {
  return new DashkeepError(`Cannot find the object ${text}: no id and no title is like that`, {
    kind: 'usage',
    hint:
      alike.length > 0
        ? `most alike are ${alike.join(', ')}`
        : '`dashkeep find` looks into objects',
  })
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
