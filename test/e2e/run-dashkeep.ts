import { PassThrough, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { runCli } from '../../src/cli/run.ts'
import type { Environment } from '../../src/config/config.ts'

/** What a run of dashkeep said and how it ended. */
export interface Finished {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command line in this process, as in a pipe, with nothing of its environment but `env`. */
export async function runDashkeep(
  args: readonly string[],
  { env, signal, now }: { env: Environment; signal?: AbortSignal; now?: Date | undefined },
): Promise<Finished> {
  const stdout = createCapture()
  const stderr = createCapture()
  const exitCode = await runCli(args, {
    env,
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: signal ?? new AbortController().signal,
    now: () => now ?? new Date(),
  })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/**
 * Runs a command line as on a terminal, and types an answer to each question: `key` to the first that
 * wants yes or no, and those of `answers` in turn to the others, which end in a colon.
 */
export async function askDashkeep(
  args: readonly string[],
  { env, key = '', answers = [] }: { env: Environment; key?: string; answers?: readonly string[] },
): Promise<Finished> {
  const left = [...answers]
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const stdout = createCapture()
  const stderr = createCapture((text) => {
    if (text.includes('[y/N]')) stdin.write(key)
    else if (/: $/.test(text)) stdin.write(`${left.shift() ?? '\x03'}\n`)
  })
  const exitCode = await runCli(args, {
    env,
    stdout: stdout.stream,
    stderr: Object.assign(stderr.stream, { isTTY: true }),
    stdin: () => stdin,
    signal: new AbortController().signal,
    now: () => new Date(),
  })
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
}

/** What a run wrote to a terminal, and what of it can be seen in the end. */
export interface Watched {
  readonly exitCode: number
  /** Everything that was written, the erasing of a line as `<<`. */
  readonly written: string
  /** The lines on the screen at the end. */
  readonly screen: readonly string[]
}

/** Runs a command line on a terminal: results, log and progress go to the same screen. */
export async function watchDashkeep(
  args: readonly string[],
  { env, columns = 80 }: { env: Environment; columns?: number },
): Promise<Watched> {
  const capture = createCapture()
  const terminal = Object.assign(capture.stream, { isTTY: true, columns })
  const exitCode = await runCli(args, {
    env,
    stdout: terminal,
    stderr: terminal,
    signal: new AbortController().signal,
    now: () => new Date(),
  })
  const written = capture.text().replaceAll('\r\x1b[K', '<<')
  const screen = written.split('\n').map((line) => line.split('<<').at(-1) ?? '')
  return { exitCode, written, screen }
}

function createCapture(onText: (text: string) => void = () => {}) {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      onText(String(chunk))
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** Waits until something is so; fails after a while that no machine should need. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 4000; turn += 1) {
    if (await isSo()) return
    await wait(5)
  }
  throw new Error(`waited in vain until ${what}`)
}

/** The JSON lines of a text. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

/** The accounts in what `backup --json` and `whoami --json` print. */
export function accountsOf(stdout: string): Record<string, unknown>[] {
  return (JSON.parse(stdout) as { accounts: Record<string, unknown>[] }).accounts
}
