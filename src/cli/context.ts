import { type AccountConfig, type Config, type ConfigNeed, loadConfig } from '../config.ts'
import { DashkeepError } from '../errors.ts'
import { createLog, type Logger } from '../log.ts'
import type { CommonOptions } from './program.ts'
import type { Terminal } from './terminal.ts'

/** What a verb needs besides its own options. */
export interface Context {
  readonly config: Config
  readonly log: Logger
}

/** Reads the configuration and begins the log. */
export async function createContext(
  { env, watched, stderr }: Terminal,
  options: CommonOptions,
  needs: readonly ConfigNeed[],
): Promise<Context> {
  const config = await loadConfig(env, options, needs)
  const readable = stderr.isTTY === true
  const level = config.logLevel ?? (watched ? 'warn' : 'info')
  const colors = readable && !env.NO_COLOR
  return { config, log: await createLog({ level, stream: stderr, readable, colors }) }
}

/** The configuration with only the accounts that were asked for by name. */
export function selectAccounts(config: Config, names: readonly string[] | undefined): Config {
  if (names === undefined) return config
  const accounts = names.map((name) => findAccount(config, name))
  return { ...config, accounts: [...new Set(accounts)] }
}

function findAccount({ accounts }: Config, name: string): AccountConfig {
  const found = accounts.find((account) => account.name === name)
  if (found !== undefined) return found
  throw new DashkeepError(`Cannot find the account ${name}: the configuration does not name it`, {
    kind: 'usage',
    hint: `it names ${accounts.map((account) => account.name).join(', ')}`,
  })
}

/** Reads an account id given on the command line. */
export function parseAccountId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new DashkeepError(`Cannot use the account id ${text}: it is not an integer`, {
    kind: 'usage',
    hint: '`dashkeep list` shows the ids of the accounts in the archive',
  })
}
