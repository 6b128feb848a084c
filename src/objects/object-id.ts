/** An object's id in two parts. */
export interface ObjectName {
  readonly type: string
  readonly objectId: string
}

/**
 * Cuts `<type>:<object id>` at the first colon, since object ids hold further ones
 * (service-facts, "Export documents"). Returns undefined when there is none.
 */
export function splitId(id: string): ObjectName | undefined {
  const colon = id.indexOf(':')
  return colon < 0 ? undefined : { type: id.slice(0, colon), objectId: id.slice(colon + 1) }
}

/** `<type>:<object id>` of a hit's `_id`, which is bare in the oldest form; empty for no text. */
export function fullId(id: unknown, type: string, oldest: boolean): string {
  if (typeof id !== 'string') return ''
  return oldest ? `${type}:${id}` : id
}
