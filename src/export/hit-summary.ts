import { isUtf8 } from 'node:buffer'
import { fullId } from '../objects/object-id.ts'
import { titleMember } from '../objects/title-member.ts'
import type { RawHit } from './export-scanner.ts'
import {
  asObject,
  endOf,
  findMembers,
  firstByte,
  firstOf,
  hasAnyKey,
  isBlank,
  isText,
  type MemberName,
  memberName,
  NO_MEMBER,
  offset,
  THE_HIT,
  textOf,
} from './hit-members.ts'
import { MEMBER } from './hit-reader.ts'

/**
 * A harmless difference between a hit and the specification ("Export result", "Saved object by type").
 * Such hits are stored unchanged and counted:
 * - `no-id`: `_id` is missing or not text.
 * - `no-source`: `_source`, or its member named after the type, is missing or not an object.
 * - `no-content`: all members of the saved object are empty.
 * - `other-type`: the hit has another type than the requested one.
 * - `old-form`: the form of kibanaVersion 4, in which `_source` is the saved object itself.
 * - `missing-member`, `member-form`: a specified member of the saved object is missing, or has
 *   another JSON type.
 * - `invalid-utf8`: some bytes are not UTF-8.
 * - `duplicate-id`: an earlier hit has the same id.
 */
export type RemarkKind =
  | 'no-id'
  | 'no-source'
  | 'no-content'
  | 'other-type'
  | 'old-form'
  | 'missing-member'
  | 'member-form'
  | 'invalid-utf8'
  | 'duplicate-id'

/** Number of hits for each kind of remark; kinds that did not occur are absent. */
export type Remarks = Partial<Record<RemarkKind, number>>

/** What names the object of a hit. */
export interface HitName {
  /** `<type>:<object id>` for all three forms of hits; empty when the hit has no id. */
  readonly id: string
  /** The saved object's title, or the name of a sub account; undefined when it has none. */
  readonly title: string | undefined
}

/** The facts about a hit that a new snapshot records. */
interface HitSummary extends HitName {
  readonly remarks: readonly RemarkKind[]
}

type JsonForm = 'string' | 'number' | 'boolean' | 'object'

/** JSON type of a value by its first byte. `null` has none. */
const formOf: (JsonForm | undefined)[] = []
for (const [first, form] of [
  ['"', 'string'],
  ['-0123456789', 'number'],
  ['tf', 'boolean'],
  ['{[', 'object'],
] as const) {
  for (const byte of Buffer.from(first)) formOf[byte] = form
}

/**
 * JSON types of the specified members of each saved object. Without `savedSearchId`, because
 * visualizations without a saved search do not have it.
 */
const specifiedMembers: Record<string, Record<string, JsonForm>> = {
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

/** The members of objects of one type, prepared for the search. */
interface Shape {
  readonly type: MemberName
  /** Members of `_source`: the saved object and `type`. */
  readonly inSource: readonly [MemberName, MemberName]
  readonly title: readonly [MemberName]
  readonly specified: readonly MemberName[]
  /** JSON types of the specified members, in the same order. */
  readonly forms: readonly JsonForm[]
}

const ID = memberName('_id')
const HIT_TYPE = memberName('_type')
const SOURCE = memberName('_source')
const TYPE = memberName('type')

/** Members without content. In the oldest form, they are beside the content. */
const bookkeeping = ['type', 'id', 'version', 'updated_at', '_updatedAt', 'migrationVersion'].map(
  (name) => memberName(name).key,
)

const inHit = [ID, HIT_TYPE, SOURCE] as const

const shapes = new Map<string, Shape>()

function shapeOf(type: string): Shape {
  const known = shapes.get(type)
  if (known !== undefined) return known
  const specified = specifiedMembers[type] ?? {}
  const own = memberName(type)
  const shape: Shape = {
    type: own,
    inSource: [own, TYPE],
    title: [memberName(titleMember(type))],
    specified: Object.keys(specified).map((name) => memberName(name)),
    forms: Object.values(specified),
  }
  shapes.set(type, shape)
  return shape
}

/** Where a hit has what names it. Members are given as in `findMembers`. */
interface HitParts {
  readonly id: string | undefined
  readonly hitType: number
  readonly source: number
  readonly saidType: number
  /** The saved object; `NO_MEMBER` when the hit has none. */
  readonly object: number
  readonly oldForm: boolean
}

function partsOf(hit: RawHit, shape: Shape): HitParts {
  const inside = findMembers(hit, THE_HIT, inHit)
  const hitType = inside[1]
  const source = asObject(hit, inside[2])
  const own = findMembers(hit, source, shape.inSource)
  const inSource = asObject(hit, own[0])
  // In the oldest form, `_type` is the type and `_source` the saved object.
  const oldForm = source !== NO_MEMBER && inSource === NO_MEMBER && isText(hit, hitType, shape.type)
  const object = oldForm ? source : inSource
  return { id: textOf(hit, inside[0]), hitType, source, saidType: own[1], object, oldForm }
}

function nameOf(hit: RawHit, parts: HitParts, shape: Shape): HitName {
  const { id, source, saidType, object, oldForm } = parts
  const title = findMembers(hit, object, shape.title)[0]
  return {
    id: fullId(id, shape.type.text, oldForm),
    title: textOf(hit, title) ?? otherTitle(hit, source, saidType),
  }
}

/** Reads what names the object of a hit, in an export of `type`. */
export function nameHit(hit: RawHit, type: string): HitName {
  const shape = shapeOf(type)
  return nameOf(hit, partsOf(hit, shape), shape)
}

/** Reads one hit of an export of `type`. */
export function summarizeHit(hit: RawHit, type: string): HitSummary {
  const remarks: RemarkKind[] = []
  if (!isUtf8(hit.bytes)) remarks.push('invalid-utf8')
  const shape = shapeOf(type)
  const parts = partsOf(hit, shape)
  const { id, object, oldForm } = parts
  if (oldForm) remarks.push('old-form')
  else if (saysOtherType(hit, parts, shape)) remarks.push('other-type')
  else if (object === NO_MEMBER) remarks.push('no-source')
  if (id === undefined) remarks.push('no-id')
  if (object !== NO_MEMBER) {
    if (!hasContent(hit, object)) remarks.push('no-content')
    addDepartures(remarks, hit, object, shape)
  }
  return { ...nameOf(hit, parts, shape), remarks }
}

/**
 * Whether a hit is useless for a restore: it has no id, no saved object, or an empty one. An export of
 * only such hits is as bad as an empty one.
 */
export function isHollow({ id, remarks }: HitSummary): boolean {
  return id === '' || remarks.includes('no-source') || remarks.includes('no-content')
}

function hasContent(hit: RawHit, object: number): boolean {
  const end = endOf(hit, object)
  for (let member = firstOf(object); member < end; member = offset(hit, member, MEMBER.next)) {
    if (!isBlank(hit, member) && !hasAnyKey(hit, member, bookkeeping)) return true
  }
  return false
}

function saysOtherType(hit: RawHit, parts: HitParts, { type }: Shape): boolean {
  const { id, saidType } = parts
  if (isText(hit, saidType)) return !isText(hit, saidType, type)
  if (id?.includes(':')) return !id.startsWith(`${type.text}:`)
  const hitType = textOf(hit, parts.hitType)
  return hitType !== undefined && !['doc', '_doc', type.text].includes(hitType)
}

function addDepartures(
  remarks: RemarkKind[],
  hit: RawHit,
  object: number,
  { specified, forms }: Shape,
): void {
  const members = findMembers(hit, object, specified)
  let isMissing = false
  let isOther = false
  for (let index = 0; index < forms.length; index += 1) {
    const first = firstByte(hit, members[index] as number)
    if (first === undefined) isMissing = true
    else if (formOf[first] !== forms[index]) isOther = true
  }
  if (isMissing) remarks.push('missing-member')
  if (isOther) remarks.push('member-form')
}

/** The title of an object of another type than the requested one. */
function otherTitle(hit: RawHit, source: number, saidType: number): string | undefined {
  const said = textOf(hit, saidType)
  if (said === undefined) return undefined
  const [member] = findMembers(hit, source, [memberName(said)] as const)
  const [title] = findMembers(hit, asObject(hit, member), [memberName(titleMember(said))] as const)
  return textOf(hit, title)
}
