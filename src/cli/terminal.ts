import type { Readable, Writable } from 'node:stream'
import { cleanLine, escapeHidden } from '../clean-text.ts'
import type { Environment } from '../config/config.ts'
import { DashkeepError, hintOf, InterruptedError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Colors, createColors, paintLine } from './print/colors.ts'
import { createProgress, type Progress } from './print/progress.ts'

export { formatAge, formatBytes, formatTime, plural } from '../wording.ts'
export type { Colors }

/** The process's environment, streams, clock and stop signal. */
export interface ProcessIo {
  readonly env: Environment
  readonly stdout: Writable & { isTTY?: boolean; columns?: number }
  readonly stderr: Writable & { isTTY?: boolean; columns?: number }
  readonly signal: AbortSignal
  /** The clock that names snapshots and judges their age. */
  readonly now: () => Date
  /**
   * Called once the exit code is final. Notifications may still be in progress; a signal no longer
   * changes the exit code.
   */
  readonly settle?: (exitCode: number) => void
  /** Opens standard input when an answer is needed. Without it, no question is asked. */
  readonly stdin?: () => Readable & { isTTY?: boolean }
}

/**
 * Where a verb's results go: a person or a program. Everything but `writeRaw` is clean: text from
 * the service or the archive neither steers a terminal nor adds a line of its own.
 */
export interface Terminal extends Omit<ProcessIo, 'stdout'> {
  /** Whether the results are to be one JSON document (or one per line). */
  readonly json: boolean
  readonly colors: Colors
  /** Width of the terminal that shows the results; undefined in a pipe. */
  readonly columns: number | undefined
  /** Whether a person watches standard error, so that progress may be drawn. */
  readonly watched: boolean
  /** What is going on, drawn below everything else while a person watches. */
  readonly progress: Progress
  /** Hears of the log once it has begun. */
  readonly onLog?: (log: Logger) => void
  /** Writes lines of the log to standard error, as they are. */
  writeLog(lines: string): void
  /** Writes a line of results, or several. A line break within one becomes a space. */
  print(lines?: string | readonly string[]): void
  /** Writes a result as JSON, on one line unless `stringify` makes several. No data is lost. */
  printJson<Value>(value: Value, stringify?: (value: Value) => string): void
  /** Writes bytes or text as they are, and waits while the reader of a pipe is slower. */
  writeRaw(bytes: Uint8Array | string): Promise<void>
}

export function createTerminal(
  io: ProcessIo,
  { json, quiet = false }: { json: boolean; quiet?: boolean },
): Terminal {
  const { stdout, ...rest } = io
  const { env, stderr, signal } = rest
  const plain = Boolean(env.NO_COLOR) || env.TERM === 'dumb'
  const watched = stderr.isTTY === true && env.TERM !== 'dumb' && !json && !quiet
  const progress = createProgress({
    watched,
    draw: (text) => void stderr.write(text),
    columns: () => stderr.columns ?? 80,
  })
  return {
    ...rest,
    json,
    colors: createColors(stdout.isTTY === true && !plain),
    columns: stdout.isTTY === true ? (stdout.columns ?? 80) : undefined,
    watched,
    progress,
    writeLog: (lines) => progress.around(() => stderr.write(lines)),
    print(lines = '') {
      const text = [lines].flat().map((line) => `${paintLine(line)}\n`)
      progress.hide()
      stdout.write(text.join(''))
    },
    printJson(value, stringify = (one) => JSON.stringify(one)) {
      progress.hide()
      stdout.write(`${escapeHidden(stringify(value))}\n`)
    },
    writeRaw(bytes) {
      // What goes into a pipe or a file does not meet the line.
      if (stdout.isTTY === true) progress.end()
      return writeRaw(stdout, bytes, signal)
    },
  }
}

/** Writes dashkeep's own messages and errors to standard error, as clean as results are. */
export function createErrorTerminal(io: ProcessIo): Terminal {
  return createTerminal({ ...io, stdout: io.stderr }, { json: false })
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
  terminal: Terminal,
  question: string,
  { yes = false }: { yes?: boolean | undefined },
): Promise<Answer> {
  if (yes) return 'yes'
  const answer = await ask(terminal, `${question} [y/N] `)
  if (answer === undefined) return 'unasked'
  return /^y(es)?$/i.test(answer) ? 'yes' : 'no'
}

/** Asks for a line of text. Returns undefined where nobody can be asked. */
export async function ask(
  { json, stdin, stderr, signal, progress }: Terminal,
  question: string,
): Promise<string | undefined> {
  const input = json ? undefined : stdin?.()
  if (input?.isTTY !== true || stderr.isTTY !== true) return undefined
  progress.end()
  // Imported late, like everything that a run without questions has no use for.
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input, output: stderr })
  try {
    return (await prompt.question(cleanLine(question), { signal })).trim()
  } catch (error) {
    // What is said of it begins a line of its own.
    stderr.write('\n')
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
