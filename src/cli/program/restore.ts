import type { Command } from 'commander'
import { collect, common, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares `dashkeep restore`. */
export function declareRestore(program: Command, run: Run): void {
  common(program.command('restore'))
    .summary('restore objects to files or to the service')
    .description(
      'Restores a snapshot, or chosen objects and the objects that they need, to files or to the service. Before it sends anything to the service, restore exports the present objects, compares them, shows a plan and asks. Existing objects stay as they are unless --overwrite is given.',
    )
    .argument('[snapshot]', `${referenceForms} (default: latest)`)
    .option('-a, --account <name>', 'account of the snapshot, by name or id')
    .option('--from <folder>', 'restore from a folder that --to or --pretty wrote')
    .option('-o, --object <name>', 'only this object: id, title or pattern; repeatable', collect)
    .option('--without-references', 'leave out the objects that the chosen objects need')
    .option('--to <folder>', 'write export documents, in the form that the service imports')
    .option('--pretty <folder>', 'write one file per object with nested JSON expanded, for git')
    .option('--git', 'with --pretty: commit the snapshot to git; the message describes its changes')
    .option('--all', 'with --git: commit every newer snapshot of the account, oldest first')
    .option('--push', 'with --git: push the commits')
    .option('--ndjson <file>', 'write a file that Kibana and OpenSearch Dashboards import')
    .option('--to-service', 'import the objects into the account')
    .option(
      '--into-account <name>',
      'with --to-service: restore into another configured account, by name or id',
    )
    .option(
      '--to-accounts <name>',
      'with --to-service and --map: each of these accounts, by name, id or pattern; repeatable',
      collect,
    )
    .option(
      '--map <file>',
      'promote into other accounts, with the ids, index patterns and titles that this file sets',
    )
    .option(
      '--drill',
      'restore every account into a temporary sandbox, to prove that the backups can be restored; changes nothing; needs disk space in TMPDIR',
    )
    .option('--record', 'with --drill: keep the result in proofs/ of the archive')
    .option('--overwrite', 'replace objects and files that exist and differ')
    .option('--any-version', 'restore although the service has another kibanaVersion')
    .option('--allow-suspect', 'restore although the snapshot is suspect')
    .option('--dry-run', 'with --to-service: show the plan and send nothing')
    .option('-y, --yes', 'send without asking')
    .addHelpText('after', examples)
    .action(run(async () => (await import('../verbs/restore.ts')).restore))
}

const examples = `
Examples:
  dashkeep restore --object 'Shop overview' --to-service             show the plan, ask, restore
  dashkeep restore --object 'Shop overview' --to-service --dry-run   show the plan only
  dashkeep restore '3 days ago' --to /tmp/objects                    write the objects to files
  dashkeep restore --to-service --to-accounts 'team-*' --map m.yaml  promote into other accounts
  dashkeep restore --pretty ./objects --git --all                    commit every snapshot to git
  dashkeep restore --drill                                           prove that the backups can be restored`
