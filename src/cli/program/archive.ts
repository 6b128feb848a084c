import type { Command } from 'commander'
import { common, oneAccount, onlyAccount, onlyAccounts, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares the verbs that take snapshots and read the archive. */
export function declareArchiveVerbs(program: Command, run: Run): void {
  backingUp(program.command('backup'))
    .summary('take a snapshot of every configured account')
    .description(
      'Takes a snapshot of every configured account. For each account, dashkeep asks the service which account the token belongs to, exports each type, stores the exports as received and reads them back. It writes the manifest last.',
    )
    .option('--full', 'store the files even when nothing has changed')
    .option(
      '--accept-fall',
      'accept the snapshot as good although objects are missing, replaced, duplicated or empty',
    )
    .option(
      '--accept-service',
      'take the snapshot although the newest one comes from another service',
    )
    .action(run(async () => (await import('../verbs/backup.ts')).backup))
  backingUp(program.command('worker'))
    .summary('back up on a schedule, until stopped')
    .description(
      'Backs up every configured account on the configured schedule, and runs overdue backups at start. Serves metrics and health checks. Reads a changed configuration within a minute, and reads secrets again before each run.',
    )
    .action(run(async () => (await import('../verbs/worker.ts')).worker))
  common(program.command('list'))
    .summary('list the snapshots in the archive')
    .description(
      'Lists the snapshots in the archive, oldest first. Lists keys only and opens no file.',
    )
    .addOption(onlyAccount())
    .action(run(async () => (await import('../verbs/list.ts')).list))
  common(program.command('show'))
    .summary('show what a snapshot holds')
    .description(
      'Shows what a snapshot holds, from its manifest. Without an argument, shows the newest snapshot.',
    )
    .argument('[snapshot]', referenceForms)
    .addOption(oneAccount())
    .action(run(async () => (await import('../verbs/show.ts')).show))
  common(program.command('ls'))
    .summary('list the objects in a snapshot')
    .description(
      'Lists every object of a snapshot with its title, id, size and time of last change, which the object itself records. Without an argument, lists the newest snapshot.',
    )
    .argument('[snapshot]', referenceForms)
    .addOption(oneAccount())
    .option('-t, --type <type...>', 'only these types')
    .action(run(async () => (await import('../verbs/ls.ts')).ls))
  common(program.command('verify'))
    .summary('check that stored snapshots are complete and undamaged')
    .description(
      'Reads the stored files and checks them: presence, sizes, SHA-256 before and after compression, JSON, object counts, digests and the chain of manifests. Exit code 5 when a snapshot is damaged.',
    )
    .argument('[snapshots...]', `${referenceForms} (default: every snapshot)`)
    .addOption(onlyAccount())
    .option('--since <when>', 'only snapshots taken since then, such as 2026-11-01 or 7d')
    .option('--sample <percent>', 'only a random share of them, such as 10%, and at least one')
    .option('--record', 'keep the result in proofs/ of the archive, for status --max-proof-age')
    .action(run(async () => (await import('../verbs/verify.ts')).verify))
}

/** The options of the verbs that back up. */
function backingUp(command: Command): Command {
  return common(command)
    .addOption(onlyAccounts())
    .option('--shard <i/n>', 'only part i of n parts of the accounts; the first part is 0/n')
}
