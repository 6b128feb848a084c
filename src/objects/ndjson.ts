import { type JsonObject, stringifyLossless } from './lossless-json.ts'
import { findNeeds } from './references.ts'
import type { SavedObject } from './saved-object.ts'
import { readUpdateTime } from './update-time.ts'

/** Further members of `_source` that the import of stock Kibana accepts. */
const versionMembers = ['migrationVersion', 'coreMigrationVersion', 'typeMigrationVersion']

/**
 * Writes an object as one line for the import of stock Kibana and OpenSearch Dashboards, without the
 * line break. Returns undefined for a hit without an object.
 *
 * The attributes stay unchanged, with their numbers and nested text. Old-style ids are added as
 * references, with the names that the migrations of version 7 give them, so that the import can check
 * them. These migrations also convert old attributes, because they all run for a line without
 * `migrationVersion`.
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
  const updatedAt = readUpdateTime(source?.get('updated_at'))
  if (updatedAt !== undefined) line.set('updated_at', updatedAt)
  return stringifyLossless(line)
}
