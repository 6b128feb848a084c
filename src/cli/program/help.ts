import type { Command } from 'commander'
import { unknownVerb } from '../command.ts'
import type { Run } from '../options.ts'

/** Declares `dashkeep help` and `dashkeep completion`. */
export function declareHelpVerbs(program: Command, run: Run): void {
  program
    .command('completion')
    .summary('print a script that completes verbs and options in a shell')
    .description(
      'Prints a script that completes verbs and options in a shell. Load it in the start-up file of the shell, such as ~/.bashrc: source <(dashkeep completion bash)',
    )
    .argument('<shell>', 'bash, zsh or fish')
    .action(
      run<{ shell: string }>(async () => {
        const { completion } = await import('../verbs/completion.ts')
        return (terminal, { shell }) => completion(terminal, { shell, program })
      }),
    )
  program
    .command('help')
    .summary('explain a verb and its options')
    .description('Explains a verb and its options, as --help after the verb does.')
    .argument('[verb...]', 'one or more words, such as backup, or accounts list')
    .action((words: string[]) => findVerb(program, words).help())
}

/** Finds a verb by its words. Throws a `usage` error that names an unknown word. */
function findVerb(program: Command, words: readonly string[]): Command {
  let found = program
  for (const word of words) {
    const next = found.commands.find((verb) => verb.name() === word)
    if (next === undefined) throw unknownVerb(found, word)
    found = next
  }
  return found
}
