import type { Command } from 'commander'
import { common, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares the verbs that take snapshots and read the archive. */
export function declareArchiveVerbs(program: Command, run: Run): void {
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
    .action(run(async () => (await import('../verbs/backup.ts')).backup))
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
    .action(run(async () => (await import('../verbs/worker.ts')).worker))
  common(program.command('list'))
    .summary('list the snapshots in the archive')
    .description('Lists the snapshots in the archive, oldest first, from the keys alone.')
    .option('-a, --account <name>', 'only this account, by name or id')
    .action(run(async () => (await import('../verbs/list.ts')).list))
  common(program.command('show'))
    .summary('show what a snapshot holds')
    .description(
      'Shows what a snapshot holds, from its manifest. Without a name: the newest snapshot.',
    )
    .argument('[snapshot]', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .action(
      run(
        async () => (await import('../verbs/show.ts')).show,
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
        async () => (await import('../verbs/ls.ts')).ls,
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
        async () => (await import('../verbs/verify.ts')).verify,
        ([snapshots]) => ({ snapshots }),
      ),
    )
}
