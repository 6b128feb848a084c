// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shells expand these
import type { Command } from 'commander'
import { DashkeepError } from '../../errors.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { Terminal } from '../terminal.ts'

/** A word that may be typed: a verb or an option. */
interface Word {
  readonly text: string
  readonly description: string
  /** Whether a value follows, which no verb and no option can be. */
  readonly takesValue?: boolean | undefined
  /** The same option in one letter, such as `-c`. */
  readonly short?: string | undefined
}

/** What may follow the words of a verb. */
interface Place {
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
    throw new DashkeepError(`Cannot complete for ${shell}: it is not a known shell`, {
      kind: 'usage',
      hint: `use one of ${Object.keys(shells).join(', ')}`,
    })
  }
  terminal.print(write(placesOf(program)))
  return exitCodes.done
}

/** The program and every verb in it, those with the longest path first. */
function placesOf(command: Command, path: readonly string[] = []): Place[] {
  const verbs = command.commands.map((verb) => ({
    text: verb.name(),
    description: verb.summary() || verb.description(),
  }))
  const options = command.options.flatMap(({ long, short, description, required }) =>
    long ? [{ text: long, short, description, takesValue: required }] : [],
  )
  const below = command.commands
    .filter((verb) => verb.name() !== 'help')
    .flatMap((verb) => placesOf(verb, [...path, verb.name()]))
  const values = path[0] === 'completion' ? Object.keys(shells).map(toShell) : []
  return [...below, { path: path.join(' '), words: [...verbs, ...values, ...options, help] }]
}

function toShell(text: string): Word {
  return { text, description: `a script for ${text}` }
}

/** A pattern of the shell for the options that a value follows; what it may be, files aside, is unknown. */
function valuePattern(places: readonly Place[]): string {
  const options = places
    .flatMap(({ words }) => words)
    .filter(({ takesValue }) => takesValue)
    .flatMap(({ text, short }) => (short ? [text, short] : [text]))
  return [...new Set(options)].join('|')
}

const help: Word = { text: '--help', description: 'display help for command' }

function bashScript(places: readonly Place[]): string[] {
  const cases = places.map(({ path, words }) => {
    const texts = words.map(({ text }) => text).join(' ')
    return `    ${patternOf(path)}) words='${texts}' ;;`
  })
  return [
    '# Completion for bash. Load it with: source <(dashkeep completion bash)',
    '_dashkeep() {',
    '  local words current="${COMP_WORDS[COMP_CWORD]}"',
    '  COMPREPLY=()',
    `  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${valuePattern(places)}) return ;; esac`,
    '  case " ${COMP_WORDS[*]:1:COMP_CWORD-1} " in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _dashkeep dashkeep',
  ]
}

function zshScript(places: readonly Place[]): string[] {
  const cases = places.map(({ path, words }) => {
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
    `  case "\${words[CURRENT-1]}" in ${valuePattern(places)}) _files; return ;; esac`,
    '  case " ${words[2,CURRENT-1]} " in',
    ...cases,
    '  esac',
    '  _describe -o dashkeep candidates || _files',
    '}',
    'compdef _dashkeep dashkeep',
  ]
}

function fishScript(places: readonly Place[]): string[] {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ text, description, takesValue }) => {
      const option = `-l ${text.slice(2)}${takesValue ? ' -r' : ''}`
      const word = text.startsWith('--') ? option : `-f -a ${text}`
      return `complete -c dashkeep -n '${conditionOf(path, places)}' ${word} -d ${quote(description)}`
    }),
  )
  return ['# Completion for fish. Load it with: dashkeep completion fish | source', ...lines]
}

/** When fish is behind exactly the words of a path: its last verb is there, none below it is. */
function conditionOf(path: string, places: readonly Place[]): string {
  if (path === '') return '__fish_use_subcommand'
  const verbs = path.split(' ')
  const below = places.flatMap((place) =>
    place.path.startsWith(`${path} `) ? (place.path.split(' ').at(-1) ?? []) : [],
  )
  const seen = verbs.map((verb) => `__fish_seen_subcommand_from ${verb}`).join('; and ')
  if (below.length === 0) return seen
  return `${seen}; and not __fish_seen_subcommand_from ${below.join(' ')}`
}

/** A pattern of the shell for everything typed before the word that is to be completed. */
function patternOf(path: string): string {
  return path === '' ? '*' : `' ${path} '*`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
