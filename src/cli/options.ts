import { type Command, Option } from 'commander'
import { DashkeepError } from '../errors.ts'
import type { Terminal } from './terminal.ts'

/** A verb does its work, writes its results and returns the exit code. */
export type Verb<Options> = (terminal: Terminal, options: Options) => Promise<number>

/** Options of every verb that reads the configuration. */
export interface CommonOptions {
  readonly config?: string
  readonly store?: string
  readonly logLevel?: string
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly json?: boolean
}

/**
 * Makes the action of a command from a function that imports its verb. The verb gets the command's
 * options and arguments, by name. Importing it only when it runs keeps `--help` fast.
 */
export type Run = <Options extends object>(
  load: () => Promise<Verb<Options>>,
) => (...given: unknown[]) => Promise<void>

/** Adds the options of every verb that reads the configuration. */
export function common(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: DASHKEEP_CONFIG)')
    .option(
      '-s, --store <url>',
      's3://bucket/prefix, a folder or the name of a copy (default: DASHKEEP_STORE)',
    )
    .addOption(logLevel())
    .option('-q, --quiet', 'log only warnings and errors, and show no progress')
    .addOption(verbose())
    .option('--json', 'print one machine-readable document')
}

function logLevel(): Option {
  const option = new Option('--log-level <level>', 'debug, info, warn, error or silent')
  return option.conflicts(['quiet', 'verbose'])
}

function verbose(): Option {
  return new Option('-v, --verbose', 'log every step').conflicts('quiet')
}

/** `--account` of a verb that reads the snapshots of exactly one account. */
export function oneAccount(): Option {
  return new Option(
    '-a, --account <name>',
    'account name or id; required when the archive holds several accounts',
  )
}

/** `--account` of a verb that reads every account of the archive unless told otherwise. */
export function onlyAccount(): Option {
  return new Option('-a, --account <name>', 'only this account, by name or id')
}

/** `--max-age` of a verb that judges how old the backups are. */
export function maxAge(): Option {
  return new Option(
    '--max-age <duration>',
    'an account is stale if its newest good snapshot is older than this, such as 26h',
  )
}

/** `--max-proof-age` of a verb that judges how old the proofs are. */
export function maxProofAge(): Option {
  return new Option(
    '--max-proof-age <duration>',
    'an account is unproven if its newest recorded verify or drill is older than this, such as 8d',
  )
}

/** `--account` of a verb that uses every configured account unless told otherwise. */
export function onlyAccounts(): Option {
  return new Option(
    '-a, --account <name...>',
    "only these configured accounts: names, ids or patterns such as 'team-*'",
  )
}

/** Collects the values of an option that can be repeated. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** Makes an option whose value is a whole number of at most 15 digits. */
export function numberOption(flags: string, description: string): Option {
  const option = new Option(flags, description)
  return option.argParser((text) => {
    if (/^\d{1,15}$/.test(text)) return Number(text)
    throw new DashkeepError(`Cannot use ${option.long} ${text}: it is not a whole number`, {
      kind: 'usage',
      hint: `use digits only, such as ${option.long} 7`,
    })
  })
}
