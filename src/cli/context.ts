import { readAccountId } from '../account-id.ts'
import type { Config, LogLevel } from '../config/config.ts'
import { type ConfigNeed, loadConfig } from '../config/load.ts'
import { DashkeepError } from '../errors.ts'
import { createLog, createLogTail, type Logger, type LogTail } from '../log.ts'
import type { CommonOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

/** The configuration and the log of a verb. */
export interface Context {
  readonly config: Config
  readonly log: Logger
  /** The last lines of the log. */
  readonly tail: LogTail
}

/** Reads the configuration and creates the log. Throws a `usage` error for an invalid configuration. */
export async function createContext(
  { env, watched, stderr, writeLog, onLog }: Terminal,
  options: CommonOptions,
  needs: readonly ConfigNeed[],
): Promise<Context> {
  const config = await loadConfig(env, options, needs)
  const readable = stderr.isTTY === true
  const level = levelOf(options) ?? config.logLevel ?? (watched ? 'warn' : 'info')
  const colors = readable && !env.NO_COLOR
  const tail = createLogTail()
  const log = await createLog({ level, stream: { write: writeLog }, readable, colors, tail })
  onLog?.(log)
  return { config, log, tail }
}

function levelOf({ quiet, verbose }: CommonOptions): LogLevel | undefined {
  if (quiet) return 'warn'
  return verbose ? 'debug' : undefined
}

/** Reads an id. Throws a `usage` error whose hint names `shownBy`, a command that lists the ids. */
export function parseId(text: string, what: string, shownBy: string): number {
  const id = readAccountId(text)
  if (id !== undefined) return id
  throw new DashkeepError(`Cannot use the ${what} ${text}: it is not a whole number`, {
    kind: 'usage',
    hint: `run \`${shownBy}\` to list the ids`,
  })
}
