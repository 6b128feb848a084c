import { Command, type ErrorOptions } from 'commander'
import { closest } from '../config/closest.ts'
import { DashkeepError } from '../errors.ts'
import { plural } from '../wording.ts'

/** A command whose usage errors have dashkeep's form: what cannot be done, why, and what to type. */
export class DashkeepCommand extends Command {
  override createCommand(name?: string): DashkeepCommand {
    return new DashkeepCommand(name)
  }

  /** Throws a `usage` error. Commander calls this with its own message and the code of the mistake. */
  override error(message: string, { code }: ErrorOptions = {}): never {
    throw explain(this, { message, code })
  }
}

function explain(
  command: Command,
  { message, code }: { message: string; code: string | undefined },
): DashkeepError {
  // Only commander's message names the option or argument. It quotes each name.
  const [name = '', other = ''] = [...message.matchAll(/'([^']*)'/g)].map(([, quoted]) => quoted)
  switch (code) {
    case 'commander.unknownOption':
      return unknownOption(command, name)
    case 'commander.unknownCommand':
      return unknownVerb(command, name)
    case 'commander.missingArgument':
      return missingArgument(command, name)
    case 'commander.excessArguments':
      return excessArguments(command)
    case 'commander.optionMissingArgument':
      return missingValue(command, name)
    case 'commander.missingMandatoryOptionValue':
      return missingOption(command, name)
    case 'commander.conflictingOption':
      return conflictingOptions(name, other)
    default:
      return usageError(`Cannot run ${wordsOf(command)}: ${message}`, helpOf(command))
  }
}

function unknownOption(command: Command, flag: string): DashkeepError {
  const flags = withParents(command).flatMap((one) =>
    one
      .createHelp()
      .visibleOptions(one)
      .flatMap(({ long }) => long ?? []),
  )
  const similar = closest(flag, flags)
  return usageError(
    `Cannot use ${flag}: ${wordsOf(command)} has no such option`,
    similar ? `did you mean ${similar}?` : helpOf(command),
  )
}

/** The error of a word that is no verb of a command. */
export function unknownVerb(command: Command, word: string): DashkeepError {
  const similar = closest(
    word,
    command.commands.map((verb) => verb.name()),
  )
  const hint = similar ? `did you mean ${similar}?` : helpOf(command, 'verbs')
  return usageError(`Cannot find the verb ${word}: ${wordsOf(command)} has no such verb`, hint)
}

function missingArgument(command: Command, name: string): DashkeepError {
  const { description = '' } = command.registeredArguments.find((one) => one.name() === name) ?? {}
  return usageError(
    `Cannot run ${wordsOf(command)}: <${name}> is missing`,
    `type ${wordsOf(command)} <${name}>: ${description}`,
  )
}

function excessArguments(command: Command): DashkeepError {
  const { length } = command.registeredArguments
  const limit = length === 0 ? 'no argument' : `only ${plural(length, 'argument')}`
  return usageError(
    `Cannot use ${command.args.slice(length).join(' ')}: ${wordsOf(command)} takes ${limit}`,
    `leave it out, or quote an argument that contains spaces; ${helpOf(command)}`,
  )
}

function missingValue(command: Command, flags: string): DashkeepError {
  const option = withParents(command)
    .flatMap(({ options }) => options)
    .find((one) => one.flags === flags)
  return usageError(
    `Cannot use ${option?.long}: its value is missing`,
    `type ${valueForm(flags)}: ${option?.description}`,
  )
}

function missingOption(command: Command, flags: string): DashkeepError {
  const { long, description } = command.options.find((one) => one.flags === flags) ?? {}
  return usageError(
    `Cannot run ${wordsOf(command)}: ${long} is missing`,
    `add ${valueForm(flags)}: ${description}`,
  )
}

function conflictingOptions(flags: string, otherFlags: string): DashkeepError {
  const longForm = (text: string) => /--[\w-]+/.exec(text)?.[0]
  return usageError(
    `Cannot use ${longForm(flags)} with ${longForm(otherFlags)}: they exclude each other`,
    'use one of them',
  )
}

/** `--store <url>` of `-s, --store <url>`. */
function valueForm(flags: string): string {
  return flags.replace(/^-\w, /, '')
}

/** `dashkeep accounts list`: the words that run a command. */
function wordsOf(command: Command): string {
  return withParents(command)
    .map((one) => one.name())
    .reverse()
    .join(' ')
}

function helpOf(command: Command, what = 'options'): string {
  return `\`${wordsOf(command)} --help\` lists the ${what}`
}

/** A command, the command that it belongs to, and so on. */
function withParents(command: Command): Command[] {
  return command.parent ? [command, ...withParents(command.parent)] : [command]
}

function usageError(message: string, hint: string): DashkeepError {
  return new DashkeepError(message, { kind: 'usage', hint })
}
