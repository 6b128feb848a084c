import type { Command } from 'commander'
import { closest } from '../../config/closest.ts'
import { DashkeepError } from '../../errors.ts'
import type { Run } from '../options.ts'

/** Declares what explains the verbs and completes them. */
export function declareHelpVerbs(program: Command, run: Run): void {
  program
    .command('completion')
    .summary('print a script that completes verbs and options in a shell')
    .description(
      'Prints a script that completes verbs and options in a shell. Load it in the start file of the shell, such as ~/.bashrc: source <(dashkeep completion bash)',
    )
    .argument('<shell>', 'bash, zsh or fish')
    .action(
      run(
        async () => (await import('../verbs/completion.ts')).completion,
        ([shell]) => ({ shell, program }),
      ),
    )
  program
    .command('help')
    .summary('explain a verb and its options')
    .description('Explains a verb and its options, as --help behind the verb does.')
    .argument('[verb...]', 'such as backup, or accounts list')
    .action((words: string[]) => findVerb(program, words).help())
}

/** Finds a verb by its words. Throws a `usage` error that names the word that is none. */
function findVerb(program: Command, words: readonly string[]): Command {
  let found = program
  for (const word of words) {
    const verbs = found.commands.map((verb) => verb.name())
    const next = found.commands.find((verb) => verb.name() === word)
    if (next === undefined) {
      const meant = closest(word, verbs)
      throw new DashkeepError(`Cannot explain ${words.join(' ')}: there is no verb ${word}`, {
        kind: 'usage',
        hint: meant ? `did you mean ${meant}?` : '`dashkeep help` lists the verbs',
      })
    }
    found = next
  }
  return found
}
