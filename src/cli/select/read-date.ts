/**
 * Reads `2026-11-01`, `2026-11-01T12:00` or `2026-11-01 12:00:00+01:00`. The time zone is UTC unless
 * the text has one; a date alone is the start of that day. Returns undefined for anything else, also
 * for a date that does not exist.
 */
export function readDate(text: string): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined
  const isDay = isDateOnly(text)
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/i.test(text.slice(10))
  const iso = text.replace(' ', 'T')
  const time = new Date(isDay || hasZone ? iso : `${iso}Z`)
  const exists = !Number.isNaN(time.getTime()) && (!isDay || time.toISOString().startsWith(text))
  return exists ? time : undefined
}

/** Whether a text is a date without a time. */
export function isDateOnly(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text)
}
