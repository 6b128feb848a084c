import type { Command } from 'commander'
import { common, type Run, toNumber } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares `dashkeep accounts …`. */
export function declareAccountVerbs(program: Command, run: Run): void {
  const accounts = program
    .command('accounts')
    .summary('manage the sub accounts of a main account')
    .description(
      'Manages the sub accounts of a main account, with its API token. What changes the service shows its plan first.',
    )
    .helpCommand(false)
    .addHelpText('after', examples)
  const managing = (command: Command) =>
    common(command).option(
      '-a, --account <name>',
      'the configured account that is the main account, by name or id (default: management, or the only one)',
    )
  const changing = (command: Command) =>
    managing(command)
      .option('--dry-run', 'print the exact body of each request, and send nothing')
      .option('-y, --yes', 'do it without asking')

  managing(accounts.command('list'))
    .description('Lists the sub accounts and their settings; the main account is marked.')
    .action(run(async () => (await import('../verbs/accounts-list.ts')).listAccounts))
  changing(accounts.command('create'))
    .description('Creates a sub account. Its token for shipping logs is shown once.')
    .requiredOption('--email <address>', 'of a user who is an admin of the main account')
    .requiredOption('--name <name>', 'letters, digits, space and . _ -')
    .requiredOption('--retention-days <days>', 'how long logs are kept', toNumber)
    .option('--max-daily-gb <gb>', 'capacity per day (default: 0, which takes no logs)')
    .option('--share-with <id...>', 'accounts that share its objects, or none')
    .option('--token-file <file>', 'write the token to a new file of mode 600 instead')
    .action(run(async () => (await import('../verbs/accounts-create.ts')).createSubAccount))
  changing(accounts.command('replace'))
    .description(
      'Replaces all settings of a sub account by those of a document: every setting, or an entry of the list, as JSON.',
    )
    .argument('<id>', 'the sub account')
    .argument('[file]', 'the document (default: standard input)')
    .option('--force', forced)
    .action(
      run(
        async () => (await import('../verbs/accounts-change.ts')).replace,
        ([id, file]) => ({ id, file }),
      ),
    )
  changing(accounts.command('update'))
    .description('Changes some settings of a sub account and sends all others back as they are.')
    .argument('<id>', 'the sub account')
    .option('--name <name>', 'letters, digits, space and . _ -')
    .option('--max-daily-gb <gb>', 'capacity per day')
    .option('--retention-days <days>', 'how long logs are kept', toNumber)
    .option('--searchable <yes|no>', 'whether other accounts may search its logs')
    .option('--accessible <yes|no>', 'whether users of the main account may open it')
    .option('--doc-size <yes|no>', 'whether each log carries its size')
    .option('--share-with <id...>', 'accounts that share its objects, or none')
    .option('--utilization <minutes|off>', 'how often utilization is measured')
    .option('--force', forced)
    .action(
      run(
        async () => (await import('../verbs/accounts-change.ts')).update,
        ([id]) => ({ id }),
      ),
    )
  changing(accounts.command('move-capacity'))
    .description(
      'Moves capacity between sub accounts: reduces first, then increases, so that they never take more together than before. A journal allows to finish after a kill.',
    )
    .option('--from <id>', 'the account that gives')
    .option('--to <id>', 'the account that takes')
    .option('--gb <gb>', 'how much per day')
    .option('--set <id=gb...>', 'what accounts are to have, in place of --from, --to and --gb')
    .option('--min-gb <gb>', 'what an account that gives keeps at least', '0')
    .option(
      '--journal <file>',
      'where the move is recorded (default: ./dashkeep-move-<main account>.json)',
    )
    .option('--resume', 'finish the move of the journal')
    .option('--discard', 'remove the journal of a move; the accounts stay as they are')
    .action(run(async () => (await import('../verbs/accounts-move.ts')).moveCapacity))
  changing(accounts.command('restore'))
    .description(
      'Gives sub accounts the settings that a snapshot holds (see accounts[].include), by replace, those with less capacity than now first.',
    )
    .argument('[snapshot]', `${referenceForms} (default: latest)`)
    .option('--only <id...>', 'only these sub accounts')
    .action(
      run(
        async () => (await import('../verbs/accounts-restore.ts')).restoreSettings,
        ([snapshot]) => ({ snapshot }),
      ),
    )
  managing(accounts.command('coverage'))
    .description(
      'Says which sub accounts no configured account backs up, or have no fresh good snapshot in the archive. Exit code 3 when any.',
    )
    .option('--max-age <duration>', 'older than this is stale', '26h')
    .action(run(async () => (await import('../verbs/accounts-coverage.ts')).coverage))
}

const forced = 'also when somebody else has changed the account in the meantime'

const examples = `
Examples:
  dashkeep accounts list
  dashkeep accounts update 12345 --retention-days 14 --dry-run
  dashkeep accounts move-capacity --from 12345 --to 12346 --gb 2
  dashkeep accounts coverage`
