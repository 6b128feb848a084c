import type { Readable, Writable } from 'node:stream'
import { createColors } from 'picocolors'
import type { Environment } from '../config.ts'
import { hintOf } from '../errors.ts'

export { formatAge, formatTime, plural } from '../wording.ts'

/** What the outside world hands to a verb. */
export interface Outside {
  readonly env: Environment
  readonly stdout: Writable & { isTTY?: boolean; columns?: number }
  readonly stderr: Writable & { isTTY?: boolean; columns?: number }
  readonly signal: AbortSignal
  /** The clock that names and judges snapshots. */
  readonly now: () => Date
  /** Where answers come from, opened when one is wanted; nobody is asked without it. */
  readonly stdin?: () => Readable & { isTTY?: boolean }
}

/** Colours that are none outside a terminal, with `NO_COLOR`, and in a dumb terminal. */
export type Colors = ReturnType<typeof createColors>

/** Where a verb's results go: a person or a program. */
export interface Terminal extends Outside {
  /** Whether the results are to be one JSON document (or one per line). */
  readonly json: boolean
  readonly colors: Colors
  /** Whether a person watches standard error, so that progress may be drawn. */
  readonly watched: boolean
  /** Writes a line of results. */
  print(line?: string): void
  /** Writes a result as one line of JSON. */
  printJson(value: unknown): void
}

export function createTerminal(outside: Outside, { json }: { json: boolean }): Terminal {
  const { env, stdout, stderr } = outside
  const plain = Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  return {
    ...outside,
    json,
    colors: createColors(stdout.isTTY === true && !plain),
    watched: stderr.isTTY === true && env.TERM !== 'dumb' && !json,
    print: (line = '') => void stdout.write(`${line}\n`),
    printJson: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
  }
}

/**
 * Asks before something is removed or changed. `yes` is the answer given on the command line;
 * where nobody sits at a terminal the answer is no, and so it is with `--json`: whoever reads that
 * has not seen the plan.
 */
export async function confirm(
  { json, stdin, stderr, signal }: Terminal,
  question: string,
  { yes = false }: { yes?: boolean | undefined },
): Promise<boolean> {
  if (yes || json) return yes
  const input = stdin?.()
  if (input?.isTTY !== true || stderr.isTTY !== true) return false
  // Imported late, like everything that a run without questions has no use for.
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input, output: stderr })
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    prompt.close()
  }
}

/** Prints what to try after a failure, where that is known. */
export function printHint({ print }: Terminal, error: unknown): void {
  const hint = hintOf(error)
  if (hint !== undefined) print(`  hint: ${printable(hint)}`)
}

/** A line at the bottom of a watched terminal that says what is going on. */
export interface StatusLine {
  show(text: string): void
  clear(): void
}

/** Draws at most ten times a second; draws nothing where nobody watches. */
export function createStatusLine({ watched, stderr }: Terminal): StatusLine {
  let drawn = false
  let drawnAt = 0
  const clear = () => {
    if (drawn) stderr.write('\r\x1b[K')
    drawn = false
  }
  return {
    show(text) {
      const now = performance.now()
      if (!watched || now - drawnAt < 100) return
      drawnAt = now
      drawn = true
      stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns ?? 80) - 1)}`)
    },
    clear,
  }
}

/** `1.2 MB`: bytes for people, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}

/**
 * Text of the account for a terminal: nothing in it may steer the terminal, nor turn the direction
 * of what is written.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    '\u{fffd}',
  )
}
