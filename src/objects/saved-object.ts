import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  parseLossless,
} from './lossless-json.ts'
import { fullId, type ObjectName, splitId } from './object-id.ts'
import { titleMember } from './title-member.ts'

/**
 * The form of a hit (service-facts, "Export documents"):
 * - `specified`: `_source` holds `type` and a member named after it.
 * - `newer`: the same with `references` or `migrationVersion` beside.
 * - `oldest`: `_source` is the saved object itself, `_id` bare (kibanaVersion 4).
 * - `other`: no saved object is where one is looked for.
 */
export type HitForm = 'specified' | 'newer' | 'oldest' | 'other'

/** One object that another needs, as the newer form names it. */
export interface Reference {
  readonly name: string
  readonly type: string
  readonly id: string
}

/** A saved object with everything its hit says. */
export interface SavedObject {
  /** `<type>:<object id>`; empty when the hit names no id. */
  readonly id: string
  readonly type: string
  readonly objectId: string
  readonly title: string | undefined
  readonly form: HitForm
  /** The saved object itself; empty when the hit has none. */
  readonly attributes: JsonObject
  /** What `_source.references` names; entries of another form are left out. */
  readonly references: readonly Reference[]
  /** The whole hit. */
  readonly hit: JsonObject
}

/**
 * Reads a hit of an export of `type`, given as its bytes. Bytes that are not UTF-8 show as U+FFFD.
 * Throws a `SyntaxError` when they are no JSON object.
 */
export function parseSavedObject(bytes: Uint8Array, type: string): SavedObject {
  const { buffer, byteOffset, byteLength } = bytes
  const hit = asJsonObject(
    parseLossless(Buffer.from(buffer, byteOffset, byteLength).toString('utf8')),
  )
  if (hit === undefined) throw new SyntaxError('a hit is no JSON object')
  const source = asJsonObject(hit.get('_source'))
  const oldest = hit.get('_type') === type && asJsonObject(source?.get(type)) === undefined
  const id = fullId(hit.get('_id'), type, oldest && source !== undefined)
  const ownType = asText(source?.get('type'))
  const name = nameOf(id, ownType, type)
  const object =
    asJsonObject(source?.get(type)) ??
    (oldest ? source : asJsonObject(source?.get(ownType ?? name.type)))
  return {
    id,
    ...name,
    title: asText(object?.get(titleMember(name.type))),
    form: formOf(source, object),
    attributes: object ?? new Map(),
    references: oldest ? [] : readReferences(source?.get('references')),
    hit,
  }
}

/** What the hit says itself counts more than how its id begins. */
function nameOf(id: string, ownType: string | undefined, type: string): ObjectName {
  const split = splitId(id)
  if (ownType === undefined && split !== undefined) return split
  const own = ownType ?? type
  return { type: own, objectId: split?.type === own ? split.objectId : id }
}

function formOf(source: JsonObject | undefined, object: JsonObject | undefined): HitForm {
  if (source === undefined || object === undefined) return 'other'
  if (source === object) return 'oldest'
  return source.has('references') || source.has('migrationVersion') ? 'newer' : 'specified'
}

function readReferences(value: JsonValue | undefined): Reference[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry) => {
    const member = (key: string) => asText(asJsonObject(entry)?.get(key))
    const [name, type, id] = [member('name'), member('type'), member('id')]
    return name !== undefined && type !== undefined && id !== undefined ? [{ name, type, id }] : []
  })
}
