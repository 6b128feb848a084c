/** A document or a part of it, not yet validated. */
export type Section = Readonly<Record<string, unknown>>

/** Whether a value has members, as a section of the configuration must. */
export function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value at a place such as `store.url`, or undefined when there is none. */
export function valueAt(document: unknown, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>((value, key) => (isSection(value) ? value[key] : undefined), document)
}

/** Returns the list at a place; an empty one when anything else is there. */
export function listAt(document: unknown, place: string): readonly unknown[] {
  const value = valueAt(document, place)
  return Array.isArray(value) ? value : []
}

/**
 * Returns a document with another value at a place. Creates missing sections.
 * Leaves a section of the wrong type as it is, so that it is reported.
 */
export function withValue(document: Section, place: string, value: unknown): Section {
  const [key = '', ...rest] = place.split('.')
  if (rest.length === 0) return { ...document, [key]: value }
  const section = Object.hasOwn(document, key) ? document[key] : {}
  if (!isSection(section)) return document
  return { ...document, [key]: withValue(section, rest.join('.'), value) }
}
