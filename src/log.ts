// Tested by test/e2e/ls.test.ts

import { randomBytes } from 'node:crypto'
import { type DestinationStream, type Logger, pino } from 'pino'
import { cleanStrings, escapeHidden } from './clean-text.ts'
import type { LogLevel } from './config/config.ts'

export type { Logger } from 'pino'

interface LogOptions {
  readonly level: LogLevel
  readonly stream: DestinationStream
  /** Writes lines for people instead of JSON. */
  readonly readable: boolean
  readonly colors: boolean
  /** Also gets every line, as JSON. */
  readonly tail?: LogTail | undefined
}

/** The last lines of a log, for the notification about a run. */
export interface LogTail {
  write(line: string): void
  clear(): void
  text(): string
}

/** Lines a tail keeps. */
const MAX_TAIL_LINES = 100

/** Creates a tail that keeps the last 100 lines of the log. */
export function createLogTail(): LogTail {
  let lines: string[] = []
  return {
    write(line) {
      lines.push(line)
      if (lines.length > MAX_TAIL_LINES) lines.shift()
    },
    clear() {
      lines = []
    },
    text: () => lines.join(''),
  }
}

/** Creates a short id of a run, which is in all of its log lines. */
export function createRunId(): string {
  return randomBytes(4).toString('hex')
}

/**
 * Creates a log that writes to a stream: JSON lines in a pipe, readable lines on a terminal. Cleans every
 * line.
 */
export async function createLog(options: LogOptions): Promise<Logger> {
  const { level, tail } = options
  const destination = options.readable ? await createReadable(options) : options.stream
  const write = (line: string) => {
    const cleaned = cleanJsonLine(line)
    tail?.write(cleaned)
    destination.write(cleaned)
  }
  const formatters = { level: (label: string) => ({ level: label }) }
  const timestamp = pino.stdTimeFunctions.isoTime
  return pino({ level, base: null, formatters, timestamp }, { write })
}

/** Cleans all strings, and escapes names of members, which can come from a service. */
function cleanJsonLine(line: string): string {
  return `${escapeHidden(JSON.stringify(cleanStrings(JSON.parse(line))))}\n`
}

async function createReadable({ stream, colors }: LogOptions): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize: colors, translateTime: 'HH:MM:ss', singleLine: true })
  return { write: (line) => stream.write(format(line)) }
}
