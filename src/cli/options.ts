import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Terminal } from './terminal.ts'

/**
 * A verb: does its work, writes its results, returns the exit code. Verbs are imported when they
 * are asked for, so that `--help` costs next to nothing.
 */
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

/** Makes an action of a verb that is imported when it is asked for. */
export type Run = <Options extends object>(
  load: () => Promise<Verb<Options>>,
  read?: (args: string[]) => object,
) => (...given: unknown[]) => Promise<void>

/** Adds the options of every verb that reads the configuration. */
export function common(command: Command): Command {
  return command
    .option('-c, --config <file>', 'configuration file (default: DASHKEEP_CONFIG)')
    .option('-s, --store <url>', 's3://bucket/prefix or path of a folder (default: DASHKEEP_STORE)')
    .addOption(logLevel())
    .option('-q, --quiet', 'log warnings and errors only, and show no progress')
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

/** Gathers an option that may be repeated. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** Reads an option as a whole number of at most 15 digits. */
export function toNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.')
  return Number(text)
}
