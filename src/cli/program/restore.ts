import type { Command } from 'commander'
import { collect, common, type Run } from '../options.ts'

/** Declares `dashkeep restore`. */
export function declareRestore(program: Command, run: Run): void {
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
        async () => (await import('../verbs/restore.ts')).restore,
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
