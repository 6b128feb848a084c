import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  stringifyLossless,
  tryParseLossless,
} from './lossless-json.ts'
import { nestedMembers } from './open-nested.ts'
import { indexPatternType } from './references.ts'
import type { SavedObject } from './saved-object.ts'
import { titleMember } from './title-member.ts'

/** Whether a member names an index pattern by its id or by its name, which is its title. */
export type PatternKey = 'id' | 'name'

/** Returns the new ids of objects, and the new ids and names of index patterns, or the same ones. */
export interface Rename {
  readonly object: (type: string, id: string) => string
  readonly pattern: (text: string, key: PatternKey) => string
}

/** Members that contain the id of an object of this type. */
const idMembers: ReadonlyMap<string, string> = new Map([
  ['savedSearchId', 'search'],
  ['savedVisId', 'visualization'],
  ['dashboardId', 'dashboard'],
])

/** Members that contain an index pattern: by its id, or by its name or an object with its `id`. */
const patternMembers: ReadonlyMap<string, PatternKey> = new Map([
  ['indexPattern', 'id'],
  ['indexPatternId', 'id'],
  ['currentIndexPatternId', 'id'],
  ['dataViewId', 'id'],
  ['index_pattern', 'name'],
  ['default_index_pattern', 'name'],
  ['series_index_pattern', 'name'],
])

/** Members whose `index` is the id of an index pattern: sources of searches, and filters. */
const indexHolders: ReadonlySet<string> = new Set(['searchSourceJSON', 'searchSource', 'meta'])

/** Lists whose items name an object by `type` and `id`. */
const typedLists: ReadonlySet<string> = new Set(['references', 'panelsJSON'])

/**
 * Finds links to objects by the path of the page that shows them, with everything up to a blank, a quote or
 * the next link, at most 500 characters.
 */
const linkPattern =
  /(#\/(dashboard|visualize\/edit|edit|discover|view)\/)((?:(?!#\/)[^\s?"'<>\\]){1,500})/g

/** The types of the object that a link may show. */
const linkTypes: Readonly<Record<string, readonly string[]>> = {
  dashboard: ['dashboard'],
  'visualize/edit': ['visualization'],
  edit: ['visualization'],
  discover: ['search'],
  view: ['dashboard', 'search'],
}

/**
 * Rewrites the hit of an object: its own id, the ids that it refers to, and its title. Everything else
 * stays, also numbers, unknown members and the order of members. Nested JSON text loses its white space
 * when something in it changes.
 *
 * Refers to an object: `references` at any depth, ids in `panelsJSON`, `savedSearchId`, `savedVisId`,
 * `dashboardId`, and links in any text, such as `#/dashboard/<id>`. Refers to an index pattern: `index` of
 * a search source and of the `meta` of a filter, and the members that visualizations use for an id or a name
 * (`indexPattern`, `index_pattern`, …). Text of another language, such as the expression of a Timelion
 * visualization, is rewritten only as far as it contains links.
 */
export function rewriteObject(
  { hit, type, objectId, attributes }: SavedObject,
  { rename, retitle }: { rename: Rename; retitle: (title: string) => string },
): JsonObject {
  const ownId = rename.object(type, objectId)
  const rewritten: JsonObject = new Map(hit)
  const id = asText(hit.get('_id')) ?? ''
  rewritten.set('_id', id.slice(0, id.length - objectId.length) + ownId)
  const source = asJsonObject(hit.get('_source'))
  if (source === undefined) return rewritten
  const members = new Map(
    [...source].map(([name, value]): [string, JsonValue] => [
      name,
      value === attributes ? withTitle(attributes, type, retitle) : value,
    ]),
  )
  const titled = source === attributes ? withTitle(attributes, type, retitle) : members
  if (source !== attributes && source.get('id') === objectId) titled.set('id', ownId)
  rewritten.set('_source', createRewriter(rename)(titled, '_source'))
  return rewritten
}

function withTitle(
  attributes: JsonObject,
  type: string,
  retitle: (title: string) => string,
): JsonObject {
  const titled: JsonObject = new Map(attributes)
  const title = asText(attributes.get(titleMember(type)))
  if (title !== undefined) titled.set(titleMember(type), retitle(title))
  return titled
}

/** Rewrites a value that a member holds; items of a list count as held by the member of the list. */
type RewriteValue = (value: JsonValue, member: string) => JsonValue

function createRewriter(rename: Rename): RewriteValue {
  function rewrite(value: JsonValue, member: string): JsonValue {
    if (typeof value === 'string') return rewriteText(value, member)
    if (Array.isArray(value)) return value.map((item) => rewrite(item, member))
    return value instanceof Map ? rewriteMembers(value, member) : value
  }

  function rewriteMembers(object: JsonObject, holder: string): JsonObject {
    const members: JsonObject = new Map()
    for (const [name, value] of object) {
      const named = typeof value === 'string' && value !== '' && findNamed(name, holder, object)
      members.set(name, named ? renameNamed(named, value as string) : rewrite(value, name))
    }
    return members
  }

  function renameNamed({ type, key }: Named, text: string): string {
    return type === indexPatternType ? rename.pattern(text, key) : rename.object(type, text)
  }

  function rewriteText(text: string, member: string): string {
    const nested = nestedMembers.has(member) ? tryParseLossless(text) : undefined
    if (typeof nested !== 'object' || nested === null) return rewriteLinks(text, rename)
    const before = stringifyLossless(nested)
    const after = stringifyLossless(rewrite(nested, member))
    return before === after ? text : after
  }

  return rewrite
}

/** What a member names: an object or an index pattern, by its id or its name. */
interface Named {
  readonly type: string
  readonly key: PatternKey
}

/** What a member with text names; undefined when it names nothing. */
function findNamed(name: string, holder: string, object: JsonObject): Named | undefined {
  const key = patternMembers.get(name)
  if (key !== undefined) return { type: indexPatternType, key }
  const type = typeNamedBy(name, holder, object)
  return type === undefined ? undefined : { type, key: 'id' }
}

function typeNamedBy(name: string, holder: string, object: JsonObject): string | undefined {
  if (name === 'index') return indexHolders.has(holder) ? indexPatternType : undefined
  if (name !== 'id') return idMembers.get(name)
  if (typedLists.has(holder)) return asText(object.get('type'))
  return patternMembers.has(holder) ? indexPatternType : undefined
}

function rewriteLinks(text: string, rename: Rename): string {
  return text.replace(linkPattern, (whole, path: string, page: string, rest: string) => {
    for (const id of beginningsOf(rest)) {
      for (const type of linkTypes[page] ?? []) {
        const renamed = rename.object(type, decode(id))
        if (renamed !== decode(id))
          return path + encodeURIComponent(renamed) + rest.slice(id.length)
      }
    }
    return whole
  })
}

/** Characters in a row that may end an id and are tried. More would take seconds for a hostile text. */
const MAX_ENDS = 20

/** The text, and its beginnings up to each of the first characters that may end an id, longest first. */
function beginningsOf(text: string): string[] {
  const ends: number[] = []
  for (let end = 1; end < text.length && ends.length < MAX_ENDS; end += 1) {
    if (/[^\w%-]/.test(text[end] as string)) ends.push(end)
  }
  return [text, ...ends.reverse().map((end) => text.slice(0, end))]
}

function decode(id: string): string {
  if (!/%[\da-f]{2}/i.test(id)) return id
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}
