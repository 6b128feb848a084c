import { cleanLine } from '../../clean-text.ts'

const styles = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

/** Functions that colour text; they return it unchanged when colours are off. */
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

/** Cleans a line and keeps only dashkeep's own colours. */
export function cleanColored(line: string): string {
  return mapText(line, (text) => cleanLine(text))
}

/** Returns a line for the terminal: clean, with dashkeep's own colours as normal escape sequences. */
export function paintLine(line: string): string {
  return mapParts(
    line,
    (text) => cleanLine(text),
    (code) => code,
  )
}

/** Changes the text between the colours of a clean line. */
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
    .map((part, index) => (index % 2 === 0 ? ofText(part) : `\u001b[${ofCode(part)}m`))
    .join('')
}
