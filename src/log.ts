import type { Writable } from 'node:stream'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger } from 'pino'

interface LogOptions {
  readonly level: LogLevel
  readonly stream: Writable
  /** Whether a person reads along. */
  readonly readable: boolean
  readonly colors: boolean
}

/** Begins a log on a stream: JSON lines in a pipe, readable lines on a terminal. */
export async function createLog(options: LogOptions): Promise<Logger> {
  const destination = options.readable ? await createReadable(options) : options.stream
  return pino({ level: options.level, base: null }, destination)
}

async function createReadable({ stream, colors }: LogOptions): Promise<DestinationStream> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize: colors, translateTime: 'HH:MM:ss' })
  return { write: (line) => void stream.write(format(line)) }
}
