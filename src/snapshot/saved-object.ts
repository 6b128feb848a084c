import { isUtf8 } from 'node:buffer'
import { fullId } from '../objects/object-id.ts'
import type { RawHit } from './export-scanner.ts'
import {
  findMember,
  firstByte,
  isObject,
  isText,
  type MemberName,
  memberName,
  NO_MEMBER,
  THE_HIT,
  textOf,
} from './hit-members.ts'

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

type JsonForm = 'string' | 'number' | 'boolean' | 'object'

/** The form of a value by its first byte; null and nothing else has none. */
const forms: (JsonForm | undefined)[] = []
for (const [first, form] of [
  ['"', 'string'],
  ['-0123456789', 'number'],
  ['tf', 'boolean'],
  ['{[', 'object'],
] as const) {
  for (const byte of Buffer.from(first)) forms[byte] = form
}

/**
 * JSON types of the members each saved object has by the specification. A visualization's
 * `savedSearchId` is left out: the many that rest on no saved search have none.
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

/** What objects of one type look like, with the names ready to be looked for. */
interface Shape {
  readonly type: MemberName
  readonly members: readonly { readonly name: MemberName; readonly form: JsonForm }[]
}

const shapes = new Map<string, Shape>()

function shapeOf(type: string): Shape {
  const known = shapes.get(type)
  if (known !== undefined) return known
  const specified = Object.entries(specifiedMembers[type] ?? {})
  const members = specified.map(([name, form]) => ({ name: memberName(name), form }))
  const shape = { type: memberName(type), members }
  shapes.set(type, shape)
  return shape
}

const ID = memberName('_id')
const HIT_TYPE = memberName('_type')
const SOURCE = memberName('_source')
const TYPE = memberName('type')
const TITLE = memberName('title')

/** Reads one hit of an export of `type`. */
export function readSavedObject(hit: RawHit, type: string): SavedObject {
  const remarks: RemarkKind[] = []
  if (!isUtf8(hit.bytes)) remarks.push('invalid-utf8')
  const shape = shapeOf(type)
  const id = textOf(hit, findMember(hit, THE_HIT, ID))
  const source = objectOf(hit, THE_HIT, SOURCE)
  const inSource = source === NO_MEMBER ? NO_MEMBER : objectOf(hit, source, shape.type)
  // The oldest hits carry the type in `_type` and the saved object directly in `_source`.
  const oldForm =
    source !== NO_MEMBER &&
    inSource === NO_MEMBER &&
    isText(hit, findMember(hit, THE_HIT, HIT_TYPE), shape.type)
  const object = oldForm ? source : inSource
  if (oldForm) remarks.push('old-form')
  else if (saysOtherType(hit, { id, source }, shape)) remarks.push('other-type')
  else if (object === NO_MEMBER) remarks.push('no-source')
  if (id === undefined) remarks.push('no-id')
  if (object !== NO_MEMBER) addDepartures(remarks, hit, object, shape)
  return { id: fullId(id, type, oldForm), title: titleOf(hit, source, object), remarks }
}

function objectOf(hit: RawHit, parent: number, name: MemberName): number {
  const member = findMember(hit, parent, name)
  return isObject(hit, member) ? member : NO_MEMBER
}

function saysOtherType(
  hit: RawHit,
  { id, source }: { id: string | undefined; source: number },
  { type }: Shape,
): boolean {
  const said = source === NO_MEMBER ? NO_MEMBER : findMember(hit, source, TYPE)
  if (isText(hit, said)) return !isText(hit, said, type)
  if (id?.includes(':')) return !id.startsWith(`${type.text}:`)
  const hitType = textOf(hit, findMember(hit, THE_HIT, HIT_TYPE))
  return hitType !== undefined && !['doc', '_doc', type.text].includes(hitType)
}

function addDepartures(
  remarks: RemarkKind[],
  hit: RawHit,
  object: number,
  { members }: Shape,
): void {
  let [isMissing, isOther] = [false, false]
  for (const { name, form } of members) {
    const first = firstByte(hit, findMember(hit, object, name))
    if (first === undefined) isMissing = true
    else if (forms[first] !== form) isOther = true
  }
  if (isMissing) remarks.push('missing-member')
  if (isOther) remarks.push('member-form')
}

function titleOf(hit: RawHit, source: number, object: number): string | undefined {
  const own = object === NO_MEMBER ? undefined : textOf(hit, findMember(hit, object, TITLE))
  if (own !== undefined || source === NO_MEMBER) return own
  const said = textOf(hit, findMember(hit, source, TYPE))
  const other = said === undefined ? NO_MEMBER : objectOf(hit, source, memberName(said))
  return other === NO_MEMBER ? undefined : textOf(hit, findMember(hit, other, TITLE))
}
