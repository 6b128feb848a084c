import { hash } from 'node:crypto'
import { type JsonObject, type JsonValue, stringifyLossless } from './lossless-json.ts'
import type { SavedObject } from './saved-object.ts'
import { touchMembers } from './unstable-members.ts'

/** In the oldest form, these members are among the attributes. */
const touched = [...touchMembers, '_updatedBy']

/**
 * Digest of an object's attributes and references, independent of the order of members and of the
 * notation. For comparisons with a service, which may write objects in another way. In the archive,
 * objects are compared byte for byte.
 */
export function objectState({ form, attributes, references }: SavedObject): string {
  const own = [...attributes].filter(([name]) => form !== 'oldest' || !touched.includes(name))
  const pointsTo = references.map(({ name, type, id }) => JSON.stringify([name, type, id])).sort()
  return hash('sha256', stringifyLossless([sorted(new Map(own)), ...pointsTo]), 'base64')
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (!(value instanceof Map)) return value
  const members: JsonObject = new Map()
  for (const name of [...value.keys()].sort()) members.set(name, sorted(value.get(name) ?? null))
  return members
}
