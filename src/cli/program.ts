import { Command, Option } from 'commander'
import { causeOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { version } from '../version.ts'
import { type CommonOptions, collect, common, type Run, toNumber, type Verb } from './options.ts'
import { declareAccountVerbs } from './program-accounts.ts'
import { declareHelpVerbs } from './program-help.ts'
import { referenceForms } from './select/snapshot-reference.ts'
import { createErrorTerminal, createTerminal, type Outside } from './terminal.ts'

const examples = `
Examples:
  dashkeep demo                                  try it all on this machine, without an account
  dashkeep doctor                                check configuration, token and store
  dashkeep backup --store file:///var/backups    one backup, token from the environment
  dashkeep list                                  what is in the archive
  dashkeep diff '1 day ago'                      what somebody did since

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 partly done or suspect,
4 stale, 5 verification failed, 130 interrupted (143 by SIGTERM or SIGHUP).`

/** Declares every verb. `finish` is given the exit code of the one that ran. */
export function createProgram(outside: Outside, finish: (exitCode: number) => void): Command {
  const program = new Command('dashkeep')
    .description('Keeps the saved objects of hosted Kibana accounts safe, and proves it.')
    .version(version, '-V, --version')
    .helpCommand(false)
    .showHelpAfterError('(add --help to see every option)')
    .addHelpText('after', examples)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => createTerminal(outside, { json: false }).print(linesOf(text)),
      writeErr: (text) => createErrorTerminal(outside).print(linesOf(text)),
    })

  /** Makes the action of a command: import the verb, run it, hand on its exit code. */
  const run =
    <Options extends object>(
      load: () => Promise<Verb<Options>>,
      read: (args: string[]) => object = () => ({}),
    ) =>
    async (...given: unknown[]) => {
      const command = given.at(-1) as Command
      const options = { ...command.optsWithGlobals(), ...read(command.processedArgs) } as Options
      const { json = false, quiet = false } = command.optsWithGlobals<CommonOptions>()
      let log: Logger | undefined
      const onLog = (begun: Logger) => {
        log = begun
      }
      const terminal = { ...createTerminal(outside, { json, quiet }), onLog }
      const verb = await load()
      try {
        finish(await verb(terminal, options))
      } catch (error) {
        const cause = causeOf(error)
        if (cause !== undefined) log?.debug({ cause }, 'cause of the failure')
        throw error
      } finally {
        terminal.progress.end()
      }
    }

  declareArchiveVerbs(program, run)
  declareFindingVerbs(program, run)
  declareKeepingVerbs(program, run)
  declareRestore(program, run)
  declareServiceVerbs(program, run)
  declareAccountVerbs(program, run)
  declareTrialVerbs(program, run)
  declareHelpVerbs(program, run)
  return program
}

/** The lines of a text that ends with a line break. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

function declareArchiveVerbs(program: Command, run: Run): void {
  common(program.command('backup'))
    .summary('take a snapshot of every configured account')
    .description(
      'Takes a snapshot of every configured account: asks whom the token belongs to, exports each type in turn, stores what arrived and reads it back. The manifest is written last.',
    )
    .option(
      '-a, --account <name...>',
      "only these accounts of the configuration, by name or id; 'team-*' for many",
    )
    .option('--shard <i/n>', 'only one of n parts of the accounts, the first being 0/n')
    .option('--full', 'store the files also when nothing changed')
    .option(
      '--accept-fall',
      'take the snapshot as good although objects are missing, replaced, repeated or empty',
    )
    .option('--accept-service', 'take the snapshot although the newest one is of another service')
    .action(run(async () => (await import('./verbs/backup.ts')).backup))
  common(program.command('worker'))
    .summary('back up on a schedule, until told to stop')
    .description(
      'Backs up every configured account on the configured schedule, catches up at the start, and serves metrics and health. A changed configuration is adopted within a minute, secrets are read anew for each run.',
    )
    .option(
      '-a, --account <name...>',
      "only these accounts of the configuration, by name or id; 'team-*' for many",
    )
    .option('--shard <i/n>', 'only one of n parts of the accounts, the first being 0/n')
    .action(run(async () => (await import('./verbs/worker.ts')).worker))
  common(program.command('list'))
    .summary('list the snapshots in the archive')
    .description('Lists the snapshots in the archive, oldest first, from the keys alone.')
    .option('-a, --account <name>', 'only this account, by name or id')
    .action(run(async () => (await import('./verbs/list.ts')).list))
  common(program.command('show'))
    .summary('show what a snapshot holds')
    .description(
      'Shows what a snapshot holds, from its manifest. Without a name: the newest snapshot.',
    )
    .argument('[snapshot]', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .action(
      run(
        async () => (await import('./verbs/show.ts')).show,
        ([snapshot]) => ({ snapshot }),
      ),
    )
  common(program.command('ls'))
    .summary('list the objects in a snapshot')
    .description(
      'Lists every object of a snapshot with its title, id, size, and the time of its last change as the object itself says. Without a name: the newest snapshot.',
    )
    .argument('[snapshot]', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('-t, --type <type...>', 'only these types')
    .action(
      run(
        async () => (await import('./verbs/ls.ts')).ls,
        ([snapshot]) => ({ snapshot }),
      ),
    )
  common(program.command('verify'))
    .summary('prove that what is stored is whole')
    .description(
      'Reads everything that is stored and proves it: presence, sizes, SHA-256 before and after compression, documents, counts, digests, and the chain of manifests. Exit code 5 on a defect.',
    )
    .argument('[snapshot...]', `${referenceForms} (default: every snapshot)`)
    .option('-a, --account <name>', 'only this account, by name or id')
    .option('--since <when>', 'only snapshots from then on, such as 2026-11-01 or 7d')
    .option(
      '--sample <percent>',
      'only so many of them, chosen by chance, such as 10%; at least one',
    )
    .action(
      run(
        async () => (await import('./verbs/verify.ts')).verify,
        ([snapshots]) => ({ snapshots }),
      ),
    )
}

function declareFindingVerbs(program: Command, run: Run): void {
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
        async () => (await import('./verbs/diff.ts')).diff,
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
        async () => (await import('./verbs/history.ts')).history,
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
        async () => (await import('./verbs/find.ts')).find,
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
        async () => (await import('./verbs/cat.ts')).cat,
        ([object]) => ({ object }),
      ),
    )
}

function declareKeepingVerbs(program: Command, run: Run): void {
  common(program.command('status'))
    .summary('say how fresh and how good the backups are')
    .description(
      "Says of each account what its newest good snapshot is, from the archive alone and not from any run's own word. Exit code 3 when an account is suspect, missing or has a snapshot from the future, 4 when one is stale.",
    )
    .option('-a, --account <name>', 'only this account, by name or id')
    .option('--max-age <duration>', 'older than this is stale, such as 26h')
    .addOption(
      new Option(
        '--ping',
        'ping the configured addresses without {shard}: success when every account is good, else failure; needs --max-age',
      ).conflicts(['account', 'listen']),
    )
    .addOption(
      new Option(
        '--listen <host:port>',
        'serve metrics of all configured accounts for Prometheus, until told to stop',
      ).conflicts(['account', 'json']),
    )
    .option(
      '--interval <duration>',
      'with --listen: time between two looks at the archive (default: 15m)',
    )
    .action(run(async () => (await import('./verbs/status.ts')).status))
  common(program.command('prune'))
    .summary('remove snapshots that no rule keeps')
    .description(
      'Shows which snapshots the retention rules keep, and why, and removes the others once you agree. Also sweeps what interrupted runs left more than a day ago. Rules given here take the place of the configured ones, and so do the names given with --remove: then only these snapshots go.',
    )
    .option('-a, --account <name>', 'only this account, by name or id')
    .option('--keep-last <n>', 'keep the newest snapshots', toNumber)
    .option('--keep-hourly <n>', 'keep the newest of each hour', toNumber)
    .option('--keep-daily <n>', 'keep the newest of each day', toNumber)
    .option('--keep-weekly <n>', 'keep the newest of each week', toNumber)
    .option('--keep-monthly <n>', 'keep the newest of each month', toNumber)
    .option('--keep-yearly <n>', 'keep the newest of each year', toNumber)
    .option('--keep-within <duration>', 'keep what is at most this much older than the newest')
    .option(
      '--remove <name...>',
      'in place of rules: remove these snapshots, given by their whole names',
    )
    .option('-y, --yes', 'remove without asking')
    .action(run(async () => (await import('./verbs/prune.ts')).prune))
  common(program.command('pin'))
    .summary('keep a snapshot whatever the retention rules say')
    .description('Keeps a snapshot whatever the retention rules say, until it is unpinned.')
    .argument('<snapshot>', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('--note <text>', 'why; kept with the pin')
    .action(
      run(
        async () => (await import('./verbs/pin.ts')).pin,
        ([snapshot]) => ({ snapshot }),
      ),
    )
  common(program.command('unpin'))
    .summary('leave a pinned snapshot to the retention rules again')
    .description('Leaves a pinned snapshot to the retention rules again.')
    .argument('<snapshot>', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .action(
      run(
        async () => (await import('./verbs/pin.ts')).unpin,
        ([snapshot]) => ({ snapshot }),
      ),
    )
}

function declareRestore(program: Command, run: Run): void {
  common(program.command('restore'))
    .summary('put objects back: into files, or into the service')
    .description(
      'Restores a snapshot, or chosen objects with everything they need, to one place: files, or the service itself. What goes to the service is first compared with a fresh export and shown; nothing is sent before you agree, and what exists stays as it is without --overwrite.',
    )
    .argument('[snapshot]', 'name of a snapshot, latest, or a date (default: latest)')
    .option('-a, --account <name>', 'the account the snapshot is of, by name or id')
    .option('--from <folder>', 'in place of a snapshot: a folder that --to or --pretty wrote')
    .option('-o, --object <name>', 'only this object: id, title or glob; can be repeated', collect)
    .option('--without-references', 'without the objects that the chosen ones need')
    .option('--to <folder>', 'export documents as the service takes them back')
    .option('--pretty <folder>', 'a file for each object, nested JSON opened, fit for git')
    .option('--ndjson <file>', 'as stock Kibana and OpenSearch Dashboards import it')
    .option('--to-service', 'back into the account, by the import of the service')
    .option('--into-account <name>', 'with --to-service: another configured account, by name or id')
    .option(
      '--drill',
      'every account into a sandbox, as a proof; changes nothing. Needs disk space in TMPDIR',
    )
    .option('--overwrite', 'also replace what is there in another state')
    .option('--any-version', 'also when the kibanaVersion of the service is another')
    .option('--allow-suspect', 'also from a snapshot that is suspect')
    .option('--dry-run', 'with --to-service: show what would happen, and send no object')
    .option('-y, --yes', 'send without asking')
    .addHelpText('after', restoreExamples)
    .action(
      run(
        async () => (await import('./verbs/restore.ts')).restore,
        ([snapshot]) => ({ snapshot }),
      ),
    )
}

const restoreExamples = `
Examples:
  dashkeep restore --object 'Shop overview' --to-service            plan, ask, do it
  dashkeep restore --object 'Shop overview' --to-service --dry-run  only show the plan
  dashkeep restore '3 days ago' --to /tmp/objects                   look at the files
  dashkeep restore --drill                                          prove that backups can be used`

function declareServiceVerbs(program: Command, run: Run): void {
  common(program.command('whoami'))
    .summary('say whom each token belongs to')
    .description('Asks the service whom the token of each configured account belongs to.')
    .option('-a, --account <name...>', 'only these accounts of the configuration, by name or id')
    .action(run(async () => (await import('./verbs/whoami.ts')).whoami))
  common(program.command('doctor'))
    .summary('check configuration, tokens, store and clock')
    .description(
      'Checks everything a backup needs and says each finding in a line: configuration, tokens and their owners, regions, the exports of each type, the right to write, read, list and delete in the store, and the clock.',
    )
    .action(run(async () => (await import('./verbs/doctor.ts')).doctor))
  const config = program
    .command('config')
    .summary('write, check or print the configuration, or its schema')
    .description('Writes a configuration file, and looks at one.')
    .helpCommand(false)
  config
    .command('init')
    .summary('write a configuration file for one account')
    .description(
      'Writes a configuration file for one account, with comments. Asks on a terminal for what no flag says; in a pipe --base-url, --store and --token-env or --token-file are needed. No token gets into the file.',
    )
    .option('--base-url <url>', 'address of the service, such as https://api.example.com')
    .option('--path-prefix <path>', 'stands before the paths of the service, such as /v1')
    .option('--account-id <id>', 'refuse a token of any other account')
    .option('-s, --store <url>', 's3://bucket/prefix, or a folder such as ./backups')
    .option('--token-env <name>', 'variable that holds the API token')
    .addOption(
      new Option('--token-file <file>', 'file that holds the API token').conflicts('tokenEnv'),
    )
    .option('--schedule <cron>', "when the worker backs up, such as '15 3 * * *'")
    .option('-o, --output <file>', 'file to write', 'dashkeep.yaml')
    .option('--force', 'replace a file that is there')
    .option('--json', 'print one machine-readable document')
    .action(run(async () => (await import('./verbs/config-init.ts')).init))
  common(config.command('check'))
    .description('Reads the configuration and names every problem in it.')
    .action(run(async () => (await import('./verbs/config.ts')).check))
  common(config.command('print'))
    .description('Prints the configuration with every default filled in. It holds no secret.')
    .action(run(async () => (await import('./verbs/config.ts')).print))
  config
    .command('schema')
    .description('Prints the JSON schema of the configuration file.')
    .action(run(async () => (await import('./verbs/config.ts')).schema))
}

function declareTrialVerbs(program: Command, run: Run): void {
  program
    .command('sandbox')
    .summary('run the remote service on this machine, for trying and for tests')
    .description(
      'Runs the whole remote service on this machine, until interrupted. Without objects it serves a small sample account. The account, its token and an example command are printed.',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('-p, --port <port>', 'port to listen on (default: a free one)', toNumber)
    .option('--objects <folder...>', 'an account for each folder of export documents')
    .option(
      '--admin-email <address...>',
      'admins of these accounts, one of whom `accounts create` must name (default: admin@example.com)',
    )
    .option('--generate <size>', 'an account with about this much in each type, such as 64MB')
    .option('--seed <number>', 'what is generated or shuffled depends on this alone', toNumber)
    .option('--hit-bytes <size>', 'least size of a generated object')
    .option('--shuffle', 'another order and score of the hits with each export')
    .option('--gzip', 'compress exports for clients that accept it')
    .option('--form <form>', 'specified, or deployed: as services in the field answer', 'specified')
    .option('--path-prefix <path>', 'stands before the unversioned paths, such as /v1')
    .option('--region <region>', 'region of this server')
    .option('--database <file>', 'SQLite file that keeps the state (default: in memory)')
    .option(
      '--fault <fault...>',
      "a fault to begin with, such as 'export:dashboard status=503 times=2'",
    )
    .option('--json', 'print address and tokens as JSON')
    .action(run(async () => (await import('./verbs/sandbox.ts')).sandbox))
  program
    .command('demo')
    .summary('see backups, a deletion and the way back, on this machine')
    .description(
      'Runs the main job on this machine: a sandbox with sample objects, backups into a folder, a search that somebody deletes, list and verify, then history finds the search and restore brings it back. The folder stays, to be looked at.',
    )
    .option('--folder <folder>', 'where the archive goes (default: a new temporary folder)')
    .action(run(async () => (await import('./verbs/demo.ts')).demo))
}
