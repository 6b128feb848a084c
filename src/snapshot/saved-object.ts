import { isUtf8 } from 'node:buffer'
import { DashkeepError } from '../errors.ts'
import { fullId } from '../objects/object-id.ts'
import type { RawHit } from './export-scanner.ts'

/**
 * A harmless departure of a hit from the specification ("Export result", "Saved object by type").
 * Such hits are kept as they are and counted:
 * - `no-id`: `_id` is missing or no text.
 * - `no-source`: `_source`, or its member named after the type, is missing or no object.
 * - `other-type`: the hit says it is of another type than the one asked for.
 * - `old-form`: the form of kibanaVersion 4, `_source` being the saved object itself.
 * - `missing-member`, `member-form`: a specified member of the saved object is absent, or of
 *   another JSON type.
 * - `invalid-utf8`: the bytes are not UTF-8 throughout.
 * - `duplicate-id`: an earlier hit has the same id.
 */
export type RemarkKind =
  | 'no-id'
  | 'no-source'
  | 'other-type'
  | 'old-form'
  | 'missing-member'
  | 'member-form'
  | 'invalid-utf8'
  | 'duplicate-id'

/** Number of hits for each kind of remark; kinds that did not occur are absent. */
export type Remarks = Partial<Record<RemarkKind, number>>

/** What dashkeep needs to know of a hit; the hit itself stays in its bytes. */
export interface SavedObject {
  /** `<type>:<object id>` for all three forms of hits; empty when the hit names no id. */
  readonly id: string
  /** The saved object's title, or undefined when it has none. */
  readonly title: string | undefined
  readonly remarks: readonly RemarkKind[]
}

type Json = Record<string, unknown>

/**
 * JSON types of the members each saved object has by the specification. A visualization's
 * `savedSearchId` is left out: the many that rest on no saved search have none.
 */
const specifiedMembers: Record<
  string,
  Record<string, 'string' | 'number' | 'boolean' | 'object'>
> = {
  search: {
    title: 'string',
    description: 'string',
    hits: 'number',
    columns: 'object',
    sort: 'object',
    version: 'number',
    kibanaSavedObjectMeta: 'object',
  },
  visualization: {
    title: 'string',
    visState: 'string',
    description: 'string',
    version: 'number',
    kibanaSavedObjectMeta: 'object',
  },
  dashboard: {
    title: 'string',
    description: 'string',
    hits: 'number',
    timeRestore: 'boolean',
    version: 'number',
    panelsJSON: 'string',
    kibanaSavedObjectMeta: 'object',
  },
}

/** Reads one hit of an export of `type`. Throws when its bytes are not sound JSON. */
export function readSavedObject(hit: RawHit, type: string): SavedObject {
  const remarks: RemarkKind[] = []
  if (!isUtf8(hit.bytes)) remarks.push('invalid-utf8')
  const document = parseHit(hit)
  const source = asObject(document._source)
  const oldForm = isOldForm(document, source, type)
  const object = oldForm ? source : asObject(source?.[type])
  if (oldForm) remarks.push('old-form')
  else if (saysOtherType(document, source, type)) remarks.push('other-type')
  else if (object === undefined) remarks.push('no-source')
  if (typeof document._id !== 'string') remarks.push('no-id')
  if (object !== undefined) remarks.push(...departures(object, type))
  return { id: fullId(document._id, type, oldForm), title: titleOf(object, source), remarks }
}

function parseHit(hit: RawHit): Json {
  try {
    const { buffer, byteOffset, length } = hit.bytes
    return JSON.parse(Buffer.from(buffer, byteOffset, length).toString('utf8')) as Json
  } catch {
    throw new DashkeepError(`Cannot read the export: hit ${hit.index} is not sound JSON`, {
      hint: 'look at the answer with curl: it is not what the export operation promises',
    })
  }
}

/** The oldest hits carry the type in `_type` and the saved object directly in `_source`. */
function isOldForm(document: Json, source: Json | undefined, type: string): boolean {
  return document._type === type && source !== undefined && asObject(source[type]) === undefined
}

function saysOtherType(document: Json, source: Json | undefined, type: string): boolean {
  if (typeof source?.type === 'string') return source.type !== type
  if (typeof document._id === 'string' && document._id.includes(':')) {
    return !document._id.startsWith(`${type}:`)
  }
  const named = document._type
  return typeof named === 'string' && !['doc', '_doc', type].includes(named)
}

function departures(object: Json, type: string): RemarkKind[] {
  const members = Object.entries(specifiedMembers[type] ?? {})
  const found: RemarkKind[] = []
  if (members.some(([name]) => object[name] === undefined)) found.push('missing-member')
  const otherForm = ([name, form]: [string, string]) =>
    object[name] !== undefined && (typeof object[name] !== form || object[name] === null)
  if (members.some(otherForm)) found.push('member-form')
  return found
}

function titleOf(object: Json | undefined, source: Json | undefined): string | undefined {
  if (typeof object?.title === 'string') return object.title
  const other = typeof source?.type === 'string' ? asObject(source[source.type]) : undefined
  return typeof other?.title === 'string' ? other.title : undefined
}

function asObject(value: unknown): Json | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Json)
    : undefined
}
