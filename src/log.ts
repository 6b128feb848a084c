import type { Writable } from 'node:stream'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger } from 'pino'

/** Begins a log on a stream: JSON lines in a pipe, readable lines on a terminal. */
export async function createLog(options: {
  level: LogLevel
  stream: Writable
  readable: boolean
  colors: boolean
}): Promise<Logger> {
  return pino({ level: options.level, base: null }, await destination(options))
}

async function destination({
  stream,
  readable,
  colors,
}: {
  stream: Writable
  readable: boolean
  colors: boolean
}): Promise<DestinationStream> {
  if (!readable) return stream
  const { build } = await import('pino-pretty')
  return build({
    destination: stream,
    sync: true,
    colorize: colors,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
  })
}
