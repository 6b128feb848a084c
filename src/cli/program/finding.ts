import type { Command } from 'commander'
import { common, maxAge, maxProofAge, oneAccount, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

const objectForms = '<type>:<id>, title, part of the title, or pattern with * and ?'

/** Declares the verbs that compare snapshots and find objects in them. */
export function declareFindingVerbs(program: Command, run: Run): void {
  common(program.command('diff'))
    .summary('compare two snapshots, or a snapshot with the service')
    .description(
      `Shows which objects were added, removed, changed or only touched (saved again without a change), and what changed in each. Parses nested JSON and matches dashboard panels by id. With one snapshot, compares it with the objects in the service now. Give a snapshot as ${referenceForms}.`,
    )
    .argument('<before>', 'the older snapshot')
    .argument('[after]', 'the newer snapshot (default: the service)')
    .addOption(oneAccount())
    .option(
      '--other-account <name>',
      'account of the newer snapshot, by name or id, if it is another account',
    )
    .option('-t, --type <type...>', 'only these types')
    .option('--object <object>', `only this object: ${objectForms}`)
    .option('--stat', 'print only the numbers of objects')
    .action(run(async () => (await import('../verbs/diff.ts')).diff))
  common(program.command('history'))
    .summary('list every version of one object')
    .description(
      'Follows one object through all snapshots: when it appeared, changed, was renamed, disappeared and returned. Finds deleted objects, too.',
    )
    .argument('<object>', objectForms)
    .addOption(oneAccount())
    .option('-p, --patch', 'show every difference instead of a summary')
    .action(run(async () => (await import('../verbs/history.ts')).history))
  common(program.command('find'))
    .summary('find objects by text in them')
    .description(
      `Finds the objects that contain a text in their title, id, description or nested JSON. Ignores case; * and ? are wildcards. Give a snapshot as ${referenceForms}.`,
    )
    .argument('<text>', 'text to search for')
    .option('--snapshot <snapshot>', 'snapshot to search', 'latest')
    .option('--all', 'search every snapshot')
    .addOption(oneAccount())
    .option('-t, --type <type...>', 'only these types')
    .action(run(async () => (await import('../verbs/find.ts')).find))
  common(program.command('cat'))
    .summary('print one object, or all objects of a type, as JSON')
    .description(
      `Prints an object or a whole export as JSON, byte for byte as received. Give a snapshot as ${referenceForms}.`,
    )
    .argument('<object>', `${objectForms}; a type alone means all its objects`)
    .option('--snapshot <snapshot>', 'snapshot to read', 'latest')
    .option('--open', 'expand nested JSON and indent the output')
    .addOption(oneAccount())
    .action(run(async () => (await import('../verbs/cat.ts')).cat))
  common(program.command('web'))
    .summary('serve pages to browse the archive in a browser')
    .description(
      'Serves pages of the archive until stopped: accounts, snapshots, objects and their versions. The pages are read only unless --allow-restore is given. Prints an address that works once, for one browser. Listens on 127.0.0.1 only, unless a proxy authenticates the users.',
    )
    .option('-l, --listen <host:port>', 'address to listen on', '127.0.0.1:5338')
    .addOption(maxAge())
    .addOption(maxProofAge())
    .option(
      '--behind-proxy <origin>',
      'public origin of a proxy that authenticates the users, such as https://dashkeep.example.com; allows any --listen address',
    )
    .option('--user-header <name>', 'header in which the proxy names the user')
    .option(
      '--allow-restore',
      'add pages that restore objects to the service; needs the tokens of the accounts',
    )
    .action(run(async () => (await import('../verbs/web.ts')).web))
}
