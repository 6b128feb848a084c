import { stringify } from 'yaml'
import type { Config } from '../../config/config.ts'
import { toDocument } from '../../config/document.ts'
import { loadConfig } from '../../config/load.ts'
import { configSchema } from '../../config/schema.ts'
import { warningsOf } from '../../config/warnings.ts'
import { openArchive, openCopy } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import { plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** `dashkeep config check`: reports every problem, and warns about common mistakes. */
export async function check(terminal: Terminal, options: CommonOptions): Promise<number> {
  const config = await checkConfig(terminal, options)
  const { accounts, types } = config
  const warnings = warningsOf(config)
  const summary = {
    valid: true,
    accounts: accounts.length,
    store: config.store?.url,
    types,
    warnings,
  }
  if (terminal.json) terminal.printJson(summary)
  else {
    const { green, yellow } = terminal.colors
    const what = `${plural(accounts.length, 'account')}, ${types.join(', ')}, into ${config.store?.url}`
    terminal.print(warnings.map((warning) => `${yellow('warning')} ${warning}`))
    terminal.print(`${green('ok')} the configuration is valid: ${what}`)
  }
  return exitCodes.done
}

/** Reads a configuration that a backup can use. Throws a `usage` error with every problem. */
export async function checkConfig(terminal: Terminal, options: CommonOptions): Promise<Config> {
  const { config, log } = await createContext(terminal, options, ['accounts', 'store'])
  // Sends no request. Opening a store rejects an invalid address.
  const about = { env: terminal.env, log }
  await (await openArchive(config, about)).close()
  for (const copy of config.copies) await (await openCopy(copy, config, about)).close()
  return config
}

/**
 * `dashkeep config print`: prints the effective configuration, in the form of a configuration file and
 * without secrets.
 */
export async function print(terminal: Terminal, options: CommonOptions): Promise<number> {
  const document = toDocument(await loadConfig(terminal.env, options))
  if (terminal.json) terminal.printJson(document)
  else terminal.print(stringify(document).trimEnd().split('\n'))
  return exitCodes.done
}

/** `dashkeep config schema`: prints the JSON schema, the same as in `config/`. */
export async function schema(terminal: Terminal): Promise<number> {
  terminal.printJson(configSchema(), (one) => JSON.stringify(one, undefined, 2))
  return exitCodes.done
}
