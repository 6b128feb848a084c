import { type JsonObject, type JsonValue, stringifyLossless } from './lossless-json.ts'
import { findNeeds } from './references.ts'
import type { SavedObject } from './saved-object.ts'

/** Members of `_source` that the import of stock Kibana knows beside type, attributes, references. */
const versionMembers = ['migrationVersion', 'coreMigrationVersion', 'typeMigrationVersion']

/**
 * Writes an object as one line of what stock Kibana and OpenSearch Dashboards import, without the
 * line break; undefined for a hit that holds no object.
 *
 * The attributes stay as they are, numbers and nested text included. References that only old-style
 * ids name are added under the names that the migrations of version 7 give them, so that the import
 * can check them; those migrations also bring old attributes up to date, since a line without
 * `migrationVersion` passes through all of them.
 */
export function toNdjsonLine(object: SavedObject): string | undefined {
  if (object.form === 'other') return undefined
  const source = object.form === 'oldest' ? undefined : (object.hit.get('_source') as JsonObject)
  const line: JsonObject = new Map()
  line.set('id', object.objectId)
  line.set('type', object.type)
  line.set('attributes', object.attributes)
  line.set(
    'references',
    findNeeds(object).references.map((reference) => new Map(Object.entries(reference))),
  )
  for (const member of versionMembers) {
    const value = source?.get(member)
    if (value !== undefined) line.set(member, value)
  }
  const updatedAt = isoTime(source?.get('updated_at'))
  if (updatedAt !== undefined) line.set('updated_at', updatedAt)
  return stringifyLossless(line)
}

/** Hits give epoch milliseconds or ISO text (service-facts, "Export documents"). */
function isoTime(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
