import { cleanLine } from '../../clean-text.ts'

const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

/** Colours that are none outside a terminal, with `NO_COLOR`, and in a dumb terminal. */
export type Colors = Readonly<Record<keyof typeof styles, (text: string) => string>>

/**
 * Proves that dashkeep itself set a colour: a number drawn for this process, which no text from
 * outside can contain, since it was written before. It goes along as further parameters of the escape
 * sequence. (Loading node:crypto for it would take a tenth of the time of `--help`.)
 */
const proof = Array.from({ length: 4 }, () => 1000 + Math.floor(9000 * Math.random())).join(';')

const ownSequence = new RegExp(`\u001b\\[(\\d+);${proof}m`)

/** Colours text for `paintLine`. */
export function createColors(enabled: boolean): Colors {
  const entries = Object.entries(styles).map(([name, [on, off]]) => {
    const sequence = (code: number) => `\u001b[${code};${proof}m`
    return [name, enabled ? (text: string) => sequence(on) + text + sequence(off) : String]
  })
  return Object.fromEntries(entries) as Colors
}

/** Cleans a line, each stretch of one colour by itself. Only dashkeep's own colours stay. */
export function cleanColored(line: string): string {
  return mapText(line, (text) => cleanLine(text))
}

/** A line as the terminal gets it: clean, with dashkeep's own colours. */
export function paintLine(line: string): string {
  return mapParts(
    line,
    (text) => cleanLine(text),
    (code) => code,
  )
}

/** Changes the text of a clean line, stretch by stretch, and keeps its colours. */
export function mapText(line: string, change: (text: string) => string): string {
  return mapParts(line, change, (code) => `${code};${proof}`)
}

function mapParts(
  line: string,
  ofText: (text: string) => string,
  ofCode: (code: string) => string,
): string {
  const parts = line.split(ownSequence)
  return parts
    .map((part, place) => (place % 2 === 0 ? ofText(part) : `\u001b[${ofCode(part)}m`))
    .join('')
}
