/** Default limit for the characters of a line. */
const MAX_LINE = 2000

/** Tabs and everything that a program may take for the end of a line. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/**
 * Characters that show nothing and steer what is around them: control characters (C0, DEL, C1),
 * direction marks, zero-width characters, byte order marks, tags, halves of surrogate pairs. The
 * variation selectors that choose between the two looks of an emoji stay.
 */
const hidden = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]--[\ufe0e\ufe0f]]/gv

/**
 * Makes text from outside fit for one line of a terminal, a log or a notification.
 *
 * A line break becomes a space and every other hidden character `\ufffd`, so that no name steers a
 * terminal, turns the direction of what follows, or looks like a line of dashkeep's own. Text longer
 * than `maxLength` loses its middle: a message says the important part first or last.
 */
export function cleanLine(text: string, maxLength = MAX_LINE): string {
  return cutMiddle(text, maxLength).replace(breaks, ' ').replace(hidden, '\ufffd')
}

function cutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const tail = Math.floor(maxLength / 3)
  return `${text.slice(0, maxLength - tail - 1)}…${text.slice(text.length - tail)}`
}

/** A copy of a value in which every string is a clean line; names of members stay. */
export function cleanStrings<Value>(value: Value): Value
export function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return cleanLine(value)
  if (Array.isArray(value)) return value.map((item) => cleanStrings(item))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cleanStrings(item)]))
}

/**
 * Writes the hidden characters of a JSON text as `\uXXXX`. The data stays the same, and the text can
 * be shown on a terminal. Line breaks stay, since JSON has them only between its tokens.
 */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    character === '\n' ? character : escapeUnits(character),
  )
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
