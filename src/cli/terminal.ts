import type { Readable, Writable } from 'node:stream'
import { cleanLine, escapeHidden } from '../clean-text.ts'
import type { Environment } from '../config/config.ts'
import { DashkeepError, hintOf, InterruptedError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Colors, createColors, paintLine } from './print/colors.ts'
import { createProgress, type Progress } from './print/progress.ts'

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
  readonly onExitCode?: (exitCode: number) => void
  /** Opens standard input when an answer is needed. Without it, no question is asked. */
  readonly stdin?: () => Readable & { isTTY?: boolean }
}

/**
 * Where a verb writes its results. Every method except `writeRaw` cleans its text: text from the
 * service or the archive cannot control the terminal or add a line.
 */
export interface Terminal extends Omit<ProcessIo, 'stdout'> {
  /** Whether the results are JSON: one document, or one per line. */
  readonly json: boolean
  readonly colors: Colors
  /** Width of the terminal, in columns; undefined when results go to a pipe or file. */
  readonly columns: number | undefined
  /** Whether standard error is a terminal that can show progress. */
  readonly watched: boolean
  /** The progress line below all other output. */
  readonly progress: Progress
  /** Called with the log once it exists. */
  readonly onLog?: (log: Logger) => void
  /** Writes log lines to standard error, unchanged. */
  writeLog(lines: string): void
  /** Writes one or more lines of results. A line break inside a line becomes a space. */
  print(lines?: string | readonly string[]): void
  /** Writes a result as JSON, by default on one line. */
  printJson<Value>(value: Value, stringify?: (value: Value) => string): void
  /** Writes bytes or text unchanged, and waits while the reader of a pipe is slow. */
  writeRaw(bytes: Uint8Array | string): Promise<void>
}

/** Creates the terminal of one verb. */
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
      // The progress line can only disturb results that go to the same terminal.
      if (stdout.isTTY === true) progress.end()
      return writeRaw(stdout, bytes, signal)
    },
  }
}

/** Creates a terminal that writes messages and errors to standard error, with the same cleaning. */
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

/** The answer to a question; `unasked` when there is no terminal to ask on. */
export type Answer = 'yes' | 'no' | 'unasked'

/**
 * Asks before something is removed or changed. `yes` answers in advance, on the command line. Returns
 * `unasked` without a terminal and with `--json`, which does not show the plan.
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

/** Asks for a line of text. Returns undefined without a terminal and with `--json`. */
export async function ask(
  { json, stdin, stderr, signal, progress }: Terminal,
  question: string,
): Promise<string | undefined> {
  const input = json ? undefined : stdin?.()
  if (input?.isTTY !== true || stderr.isTTY !== true) return undefined
  progress.end()
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input, output: stderr })
  try {
    return (await prompt.question(cleanLine(question), { signal })).trim()
  } catch (error) {
    // The prompt has not ended its line.
    stderr.write('\n')
    signal.throwIfAborted()
    // Ctrl-C or Ctrl-D: the prompt handles the keys, so the process gets no signal.
    if ((error as Error).name === 'AbortError') throw new InterruptedError('SIGINT')
    throw error
  } finally {
    prompt.close()
  }
}

/** Returns the error of a verb that needs an answer and has no terminal to ask on. */
export function notConfirmed(action: string): DashkeepError {
  return new DashkeepError(`Cannot ${action}: it needs a confirmation`, {
    kind: 'usage',
    hint: 'add --yes to confirm, or --dry-run to see only the plan; dashkeep asks on a terminal without --json',
  })
}

/** Prints the hint of an error, if it has one. */
export function printHint({ print }: Terminal, error: unknown): void {
  const hint = hintOf(error)
  if (hint !== undefined) print(`  hint: ${hint}`)
}
