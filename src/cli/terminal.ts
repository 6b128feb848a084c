import type { Readable, Writable } from 'node:stream'
import { cleanLine, escapeHidden } from '../clean-text.ts'
import type { Environment } from '../config/config.ts'
import { DashkeepError, hintOf, InterruptedError } from '../errors.ts'
import { type Colors, createColors, paintLine } from './colors.ts'

export { formatAge, formatTime, plural } from '../wording.ts'
export type { Colors }

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

/**
 * Where a verb's results go: a person or a program. Everything but `writeRaw` is clean: text from
 * the service or the archive neither steers a terminal nor adds a line of its own.
 */
export interface Terminal extends Omit<Outside, 'stdout'> {
  /** Whether the results are to be one JSON document (or one per line). */
  readonly json: boolean
  readonly colors: Colors
  /** Whether a person watches standard error, so that progress may be drawn. */
  readonly watched: boolean
  /** Writes a line of results, or several. A line break within one becomes a space. */
  print(lines?: string | readonly string[]): void
  /** Writes a result as JSON, on one line unless `stringify` makes several. No data is lost. */
  printJson<Value>(value: Value, stringify?: (value: Value) => string): void
  /** Writes bytes or text as they are, and waits while the reader of a pipe is slower. */
  writeRaw(bytes: Uint8Array | string): Promise<void>
}

export function createTerminal(
  outside: Outside,
  { json, quiet = false }: { json: boolean; quiet?: boolean },
): Terminal {
  const { stdout, ...rest } = outside
  const { env, stderr, signal } = rest
  const plain = Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  return {
    ...rest,
    json,
    colors: createColors(stdout.isTTY === true && !plain),
    watched: stderr.isTTY === true && env.TERM !== 'dumb' && !json && !quiet,
    print(lines = '') {
      stdout.write(
        [lines]
          .flat()
          .map((line) => `${paintLine(line)}\n`)
          .join(''),
      )
    },
    printJson: (value, stringify = (one) => JSON.stringify(one)) =>
      void stdout.write(`${escapeHidden(stringify(value))}\n`),
    writeRaw: (bytes) => writeRaw(stdout, bytes, signal),
  }
}

/** Writes dashkeep's own messages and errors to standard error, as clean as results are. */
export function createErrorTerminal(outside: Outside): Terminal {
  return createTerminal({ ...outside, stdout: outside.stderr }, { json: false })
}

async function writeRaw(
  stdout: Writable,
  bytes: Uint8Array | string,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  if (stdout.destroyed || stdout.write(bytes)) return
  await new Promise<void>((resolve) => {
    const events = ['drain', 'close', 'error'] as const
    const done = () => {
      for (const event of events) stdout.off(event, done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    for (const event of events) stdout.on(event, done)
    signal.addEventListener('abort', done)
  })
}

/** What came of a question; `unasked` where nobody can be asked. */
export type Answer = 'yes' | 'no' | 'unasked'

/**
 * Asks before something is removed or changed. `yes` is the answer given on the command line.
 * Nobody is asked where nobody sits at a terminal, nor with `--json`: whoever reads that has not
 * seen the plan.
 */
export async function confirm(
  { json, stdin, stderr, signal }: Terminal,
  question: string,
  { yes = false }: { yes?: boolean | undefined },
): Promise<Answer> {
  if (yes) return 'yes'
  const input = json ? undefined : stdin?.()
  if (input?.isTTY !== true || stderr.isTTY !== true) return 'unasked'
  // Imported late, like everything that a run without questions has no use for.
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input, output: stderr })
  try {
    const answer = await prompt.question(`${cleanLine(question)} [y/N] `, { signal })
    return /^y(es)?$/i.test(answer.trim()) ? 'yes' : 'no'
  } catch (error) {
    signal.throwIfAborted()
    // Ctrl-C or Ctrl-D. The prompt keeps the keys to itself, so no signal arrives.
    if ((error as Error).name === 'AbortError') throw new InterruptedError('SIGINT')
    throw error
  } finally {
    prompt.close()
  }
}

/** The error of a verb that changes the service, once it has shown its plan. */
export function unasked(action: string): DashkeepError {
  return new DashkeepError(`Cannot ${action}: nobody could be asked`, {
    kind: 'usage',
    hint: 'run the same command with --yes to do it, or with --dry-run to see the plan alone',
  })
}

/** Prints what to try after a failure, where that is known. */
export function printHint({ print }: Terminal, error: unknown): void {
  const hint = hintOf(error)
  if (hint !== undefined) print(`  hint: ${hint}`)
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
      stderr.write(`\r\x1b[K${cleanLine(text).slice(0, (stderr.columns ?? 80) - 1)}`)
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
