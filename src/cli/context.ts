import { readAccountId } from '../account-id.ts'
import type { AccountConfig, Config, LogLevel } from '../config/config.ts'
import { type ConfigNeed, loadConfig } from '../config/load.ts'
import { DashkeepError } from '../errors.ts'
import { createLog, createLogTail, type Logger, type LogTail } from '../log.ts'
import { matchesGlob } from '../objects/match-object.ts'
import { shardOf } from '../shard.ts'
import type { CommonOptions } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Accounts a hint names; there may be thousands. */
const MAX_NAMED = 20

/** What a verb needs besides its own options. */
export interface Context {
  readonly config: Config
  readonly log: Logger
  /** The last lines of the log. */
  readonly tail: LogTail
}

/** Reads the configuration and begins the log. */
export async function createContext(
  { env, watched, stderr }: Terminal,
  options: CommonOptions,
  needs: readonly ConfigNeed[],
): Promise<Context> {
  const config = await loadConfig(env, options, needs)
  const readable = stderr.isTTY === true
  const level = levelOf(options) ?? config.logLevel ?? (watched ? 'warn' : 'info')
  const colors = readable && !env.NO_COLOR
  const tail = createLogTail()
  const log = await createLog({ level, stream: stderr, readable, colors, tail })
  return { config, log, tail }
}

function levelOf({ quiet, verbose }: CommonOptions): LogLevel | undefined {
  if (quiet) return 'warn'
  return verbose ? 'debug' : undefined
}

/**
 * The configuration with only the accounts that were asked for by name or glob, in the order asked
 * for, and of these only what the shard of this process has.
 */
export function selectAccounts(config: Config, wanted: readonly string[] | undefined): Config {
  const named = wanted?.flatMap((pattern) => findAccounts(config, pattern)) ?? config.accounts
  const { shard } = config
  const accounts = [...new Set(named)].filter(
    ({ name }) => shard === undefined || shardOf(name, shard.count) === shard.index,
  )
  return { ...config, accounts }
}

/** Finds the account of exactly this name. Throws a `usage` error when there is none. */
export function findAccount(config: Config, name: string): AccountConfig {
  const found = config.accounts.find((account) => account.name === name)
  if (found === undefined) throw unknownAccount(config, `the account ${name}`)
  return found
}

function findAccounts(config: Config, pattern: string): AccountConfig[] {
  if (!/[*?]/.test(pattern)) return [findAccount(config, pattern)]
  const found = config.accounts.filter(({ name }) => matchesGlob(name, pattern))
  if (found.length === 0) throw unknownAccount(config, `an account like ${pattern}`)
  return found
}

function unknownAccount({ accounts }: Config, what: string): DashkeepError {
  const names = accounts.map(({ name }) => name)
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return new DashkeepError(`Cannot find ${what}: the configuration does not name it`, {
    kind: 'usage',
    hint: `it names ${names.slice(0, MAX_NAMED).join(', ')}${more}`,
  })
}

/** Reads an account id given on the command line. */
export function parseAccountId(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseId(text, 'account id', 'dashkeep list')
}

/** Reads an id; `shownBy` is the verb that shows which there are. Throws a `usage` error. */
export function parseId(text: string, what: string, shownBy: string): number {
  const id = readAccountId(text)
  if (id !== undefined) return id
  throw new DashkeepError(`Cannot use the ${what} ${text}: it is not an integer`, {
    kind: 'usage',
    hint: `\`${shownBy}\` shows the ids there are`,
  })
}
