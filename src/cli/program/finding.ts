import type { Command } from 'commander'
import { common, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares the verbs that compare snapshots and find objects in them. */
export function declareFindingVerbs(program: Command, run: Run): void {
  common(program.command('diff'))
    .summary('show what differs between two snapshots, or a snapshot and the service')
    .description(
      `Shows which objects were added, removed, changed, or only touched, and how those changed differ: nested JSON opened, panels matched by their id. With one snapshot: against what the service holds now. A snapshot is ${referenceForms}.`,
    )
    .argument('<before>', 'the snapshot to begin with')
    .argument('[after]', 'the snapshot to compare with (default: the service)')
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('-t, --type <type...>', 'only these types')
    .option('--object <object>', 'only this object, by <type>:<id>, title, part of one, or glob')
    .option('--stat', 'only how many')
    .action(
      run(
        async () => (await import('../verbs/diff.ts')).diff,
        ([before, after]) => ({ before, after }),
      ),
    )
  common(program.command('history'))
    .summary('show every version of one object')
    .description(
      'Follows one object through all snapshots: when it appeared, changed, was renamed, disappeared and returned. Objects that are gone are found too.',
    )
    .argument('<object>', '<type>:<id>, title, part of one, or glob with * and ?')
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('-p, --patch', 'show the differences, not only a summary')
    .action(
      run(
        async () => (await import('../verbs/history.ts')).history,
        ([object]) => ({ object }),
      ),
    )
  common(program.command('find'))
    .summary('find objects by any text in them')
    .description(
      `Finds the objects that hold a text, in any case: in title, id, description or nested JSON. With * or ? in it, a glob. A snapshot is ${referenceForms}.`,
    )
    .argument('<text>', 'what to look for')
    .option('--snapshot <snapshot>', 'where to look', 'latest')
    .option('--all', 'look in every snapshot')
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('-t, --type <type...>', 'only these types')
    .action(
      run(
        async () => (await import('../verbs/find.ts')).find,
        ([text]) => ({ text }),
      ),
    )
  common(program.command('cat'))
    .summary('print one object, or every object of a type, as JSON')
    .description(
      `Prints an object or a whole export as JSON, byte for byte as received. A snapshot is ${referenceForms}.`,
    )
    .argument('<object>', '<type>:<id>, title, part of one, glob, or a type alone')
    .option('--snapshot <snapshot>', 'where it is', 'latest')
    .option('--open', 'open nested JSON text and print over several lines')
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .action(
      run(
        async () => (await import('../verbs/cat.ts')).cat,
        ([object]) => ({ object }),
      ),
    )
}
