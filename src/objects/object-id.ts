/** The two parts of an object's id. */
export interface ObjectName {
  readonly type: string
  readonly objectId: string
}

/**
 * Splits `<type>:<object id>` at the first colon. Object ids can contain more colons (service-facts,
 * "Export documents"). Returns undefined when there is no colon.
 */
export function splitId(id: string): ObjectName | undefined {
  const colon = id.indexOf(':')
  return colon < 0 ? undefined : { type: id.slice(0, colon), objectId: id.slice(colon + 1) }
}

/** The full id of a hit's `_id`, which has no type in the oldest form; empty when it is not text. */
export function fullId(id: unknown, type: string, oldest: boolean): string {
  if (typeof id !== 'string') return ''
  return oldest ? `${type}:${id}` : id
}
