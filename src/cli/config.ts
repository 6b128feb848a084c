import { stringify } from 'yaml'
import { configSchema } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommonOptions } from './program.ts'
import { plural, type Terminal } from './terminal.ts'

/** `dashkeep config check`: silent about nothing that is wrong, short about the rest. */
export async function check(terminal: Terminal, options: CommonOptions): Promise<number> {
  const { accounts, store, types } = await loadConfig(terminal.env, options, ['accounts', 'store'])
  const summary = { valid: true, accounts: accounts.length, store: store?.url, types }
  if (terminal.json) terminal.printJson(summary)
  else {
    const what = `${plural(accounts.length, 'account')}, ${types.join(', ')}, into ${store?.url}`
    terminal.print(`${terminal.colors.green('ok')} the configuration can be used: ${what}`)
  }
  return exitCodes.done
}

/** `dashkeep config print`: the configuration as it is understood. Secrets are never part of it. */
export async function print(terminal: Terminal, options: CommonOptions): Promise<number> {
  const { findProxy: _, ...config } = await loadConfig(terminal.env, options)
  if (terminal.json) terminal.printJson(config)
  else terminal.print(stringify(config).trimEnd().split('\n'))
  return exitCodes.done
}

/** `dashkeep config schema`: the JSON schema, as shipped in `config/`. */
export async function schema(terminal: Terminal): Promise<number> {
  terminal.printJson(configSchema(), (one) => JSON.stringify(one, undefined, 2))
  return exitCodes.done
}
