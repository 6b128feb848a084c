import { type DestinationStream, type Logger, pino } from 'pino'
import type { LogLevel } from './config.ts'

export type { Logger } from 'pino'

/** Begins a log on standard error: JSON lines in a pipe, readable lines on a terminal. */
export async function createLog(options: {
  level: LogLevel
  readable: boolean
  colors: boolean
}): Promise<Logger> {
  return pino({ level: options.level, base: null }, await destination(options))
}

async function destination({
  readable,
  colors,
}: {
  readable: boolean
  colors: boolean
}): Promise<DestinationStream> {
  if (!readable) return pino.destination({ dest: 2, sync: true })
  const { build } = await import('pino-pretty')
  return build({
    destination: 2,
    sync: true,
    colorize: colors,
    ignore: 'pid,hostname',
    translateTime: 'HH:MM:ss',
  })
}
