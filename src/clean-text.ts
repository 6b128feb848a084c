/** Default limit for the length of a line. */
const MAX_LINE = 2000

/** Tabs and all characters that a program may treat as the end of a line. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/g

/**
 * Invisible characters that can change how other text looks: control characters (C0, DEL, C1),
 * direction marks, zero-width characters, byte order marks, tags, halves of surrogate pairs. Does not
 * contain the variation selectors of emoji.
 */
const hidden = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]--[\ufe0e\ufe0f]]/gv

/**
 * Makes text from outside safe for one line of a terminal, a log or a notification.
 *
 * Line breaks become spaces, and other invisible characters become `\ufffd`. So no name can control a
 * terminal, change the direction of text, or imitate a line of dashkeep. Text longer than `maxLength`
 * loses its middle, because the important part of a message is at its start or end.
 */
export function cleanLine(text: string, maxLength = MAX_LINE): string {
  return cutMiddle(text, maxLength).replace(breaks, ' ').replace(hidden, '\ufffd')
}

function cutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const tail = Math.floor(maxLength / 3)
  return `${text.slice(0, maxLength - tail - 1)}…${text.slice(text.length - tail)}`
}

/** Replaces every hidden character, and every line break. */
export function replaceHidden(text: string, replace: (character: string) => string): string {
  return text.replace(hidden, replace)
}

/** Copies a value and makes every string a clean line. Names of members stay. */
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
  return replaceHidden(json, (character) =>
    character === '\n' ? character : escapeUnits(character),
  )
}

function escapeUnits(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}
