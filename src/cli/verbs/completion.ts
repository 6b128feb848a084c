// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shells expand these
import type { Command } from 'commander'
import { DashkeepError } from '../../errors.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { Terminal } from '../terminal.ts'

/** A verb or an option. */
interface Word {
  readonly text: string
  readonly description: string
  /** Whether a value follows. */
  readonly takesValue?: boolean | undefined
  /** The short form, such as `-c`. */
  readonly short?: string | undefined
}

/** The words that may follow a verb. */
interface CommandWords {
  /** The verb, such as `accounts list`; empty for the program itself. */
  readonly path: string
  readonly words: readonly Word[]
}

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** `dashkeep completion`: prints a script that makes a shell complete verbs and options. */
export async function completion(
  terminal: Terminal,
  { shell, program }: { shell: string; program: Command },
): Promise<number> {
  const write = Object.entries(shells).find(([name]) => name === shell)?.[1]
  if (write === undefined) {
    throw new DashkeepError(
      `Cannot print a completion script for ${shell}: this shell is not supported`,
      {
        kind: 'usage',
        hint: `use one of ${Object.keys(shells).join(', ')}`,
      },
    )
  }
  terminal.print(write(commandsOf(program)))
  return exitCodes.done
}

/** The program and every verb in it, those with the longest path first. */
function commandsOf(command: Command, path: readonly string[] = []): CommandWords[] {
  const verbs = command.commands.map((verb) => ({
    text: verb.name(),
    description: verb.summary() || verb.description(),
  }))
  const options = command.options.flatMap(({ long, short, description, required }) =>
    long ? [{ text: long, short, description, takesValue: required }] : [],
  )
  const below = command.commands
    .filter((verb) => verb.name() !== 'help')
    .flatMap((verb) => commandsOf(verb, [...path, verb.name()]))
  const values = path[0] === 'completion' ? Object.keys(shells).map(toShell) : []
  return [...below, { path: path.join(' '), words: [...verbs, ...values, ...options, help] }]
}

function toShell(text: string): Word {
  return { text, description: `a script for ${text}` }
}

/** A shell pattern that matches the options that take a value. */
function valuePattern(commands: readonly CommandWords[]): string {
  const options = commands
    .flatMap(({ words }) => words)
    .filter(({ takesValue }) => takesValue)
    .flatMap(({ text, short }) => (short ? [text, short] : [text]))
  return [...new Set(options)].join('|')
}

const help: Word = { text: '--help', description: 'display help for command' }

function bashScript(commands: readonly CommandWords[]): string[] {
  const cases = commands.map(({ path, words }) => {
    const texts = words.map(({ text }) => text).join(' ')
    return `    ${patternOf(path)}) words='${texts}' ;;`
  })
  return [
    '# Completion for bash. Load it with: source <(dashkeep completion bash)',
    '_dashkeep() {',
    '  local words current="${COMP_WORDS[COMP_CWORD]}"',
    '  COMPREPLY=()',
    `  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${valuePattern(commands)}) return ;; esac`,
    '  case " ${COMP_WORDS[*]:1:COMP_CWORD-1} " in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _dashkeep dashkeep',
  ]
}

function zshScript(commands: readonly CommandWords[]): string[] {
  const cases = commands.map(({ path, words }) => {
    const described = words.map(({ text, description }) =>
      quote(`${text}:${description.replaceAll(':', '\\:')}`),
    )
    return `    ${patternOf(path)}) candidates=(${described.join(' ')}) ;;`
  })
  return [
    '#compdef dashkeep',
    '# Completion for zsh. Load it with: source <(dashkeep completion zsh)',
    '_dashkeep() {',
    '  local -a candidates',
    `  case "\${words[CURRENT-1]}" in ${valuePattern(commands)}) _files; return ;; esac`,
    '  case " ${words[2,CURRENT-1]} " in',
    ...cases,
    '  esac',
    '  _describe -o dashkeep candidates || _files',
    '}',
    'compdef _dashkeep dashkeep',
  ]
}

function fishScript(commands: readonly CommandWords[]): string[] {
  const lines = commands.flatMap(({ path, words }) =>
    words.map(({ text, description, takesValue }) => {
      const option = `-l ${text.slice(2)}${takesValue ? ' -r' : ''}`
      const word = text.startsWith('--') ? option : `-f -a ${text}`
      return `complete -c dashkeep -n '${conditionOf(path, commands)}' ${word} -d ${quote(description)}`
    }),
  )
  return ['# Completion for fish. Load it with: dashkeep completion fish | source', ...lines]
}

/** The fish condition that holds directly after the words of a path. */
function conditionOf(path: string, commands: readonly CommandWords[]): string {
  if (path === '') return '__fish_use_subcommand'
  const verbs = path.split(' ')
  const below = commands.flatMap((command) =>
    command.path.startsWith(`${path} `) ? (command.path.split(' ').at(-1) ?? []) : [],
  )
  const seen = verbs.map((verb) => `__fish_seen_subcommand_from ${verb}`).join('; and ')
  if (below.length === 0) return seen
  return `${seen}; and not __fish_seen_subcommand_from ${below.join(' ')}`
}

/** A shell pattern that matches the words before the one to complete. */
function patternOf(path: string): string {
  return path === '' ? '*' : `' ${path} '*`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
