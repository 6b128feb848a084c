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
 * - `newer`: as `specified`, with `references` or `migrationVersion`.
 * - `oldest`: `_source` is the saved object itself, and `_id` has no type (kibanaVersion 4).
 * - `other`: there is no saved object in any of these places.
 */
type HitForm = 'specified' | 'newer' | 'oldest' | 'other'

/** An entry of `references`: an object that another one needs. */
export interface Reference {
  readonly name: string
  readonly type: string
  readonly id: string
}

/** A parsed hit. */
export interface SavedObject {
  /** `<type>:<object id>`; empty when the hit has no id. */
  readonly id: string
  readonly type: string
  readonly objectId: string
  readonly title: string | undefined
  readonly form: HitForm
  /** The saved object itself; empty when the hit has none. */
  readonly attributes: JsonObject
  /** Valid entries of `_source.references`. */
  readonly references: readonly Reference[]
  /** The whole hit. */
  readonly hit: JsonObject
}

/**
 * Parses a hit of an export of `type`. Bytes that are not UTF-8 become U+FFFD. Throws a `SyntaxError` when
 * the bytes are not a JSON object.
 */
export function parseSavedObject(bytes: Uint8Array, type: string): SavedObject {
  const { buffer, byteOffset, byteLength } = bytes
  const hit = asJsonObject(
    parseLossless(Buffer.from(buffer, byteOffset, byteLength).toString('utf8')),
  )
  if (hit === undefined) throw new SyntaxError('a hit is not a JSON object')
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

/** The type in the hit counts more than the type in its id. */
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
