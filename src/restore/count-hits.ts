import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../export/ascii.ts'

/**
 * Counts the hits of an export document by its brackets alone.
 *
 * It shares no code with the scanner that reads the hits, so that a restore can compare both numbers. It
 * does not validate: the number is correct only for a valid document.
 */
export async function countHits(document: AsyncIterable<Uint8Array>): Promise<number> {
  let count = 0
  let depth = 0
  let inString = false
  let escaped = false
  /** The last string at the top level. If an array follows, this is the array's name. */
  let name = ''
  let inHits = false
  for await (const chunk of document) {
    for (const byte of chunk) {
      if (inString) {
        if (escaped) escaped = false
        else if (byte === BACKSLASH) escaped = true
        else if (byte === QUOTE) inString = false
        if (inString && depth === 1) name += String.fromCharCode(byte)
      } else if (byte === QUOTE) {
        inString = true
        if (depth === 1) name = ''
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (depth === 1) inHits = byte === OPEN_BRACKET && name === 'hits'
        if (depth === 2 && inHits) count += 1
        depth += 1
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1
      }
    }
  }
  return count
}
