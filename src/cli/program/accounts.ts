import type { Command } from 'commander'
import { common, numberOption, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares `dashkeep accounts …`. */
export function declareAccountVerbs(program: Command, run: Run): void {
  const accounts = program
    .command('accounts')
    .summary('manage the sub accounts of a main account')
    .description(
      'Manages the sub accounts of a main account, with its API token. Verbs that change the service first show a plan.',
    )
    .helpCommand(false)
    .addHelpText('after', examples)
  managing(accounts.command('list'))
    .summary('list the sub accounts and their settings')
    .description('Lists the sub accounts and their settings, and marks the main account.')
    .action(run(async () => (await import('../verbs/accounts-list.ts')).listAccounts))
  changing(accounts.command('create'))
    .summary('create a sub account')
    .description('Creates a sub account and prints its token for shipping logs, once.')
    .requiredOption('--email <address>', 'email of an admin user of the main account')
    .requiredOption('--name <name>', nameForm)
    .addOption(retentionDays().makeOptionMandatory())
    .option('--max-daily-gb <gb>', 'capacity per day (default: 0, which accepts no logs)')
    .option('--share-with <id...>', sharing)
    .option('--token-file <file>', 'write the token to a new file (mode 600), do not print it')
    .action(run(async () => (await import('../verbs/accounts-create.ts')).createSubAccount))
  declareChanges(accounts, run)
  declareMove(accounts, run)
  changing(accounts.command('restore'))
    .summary('restore the settings of sub accounts from a snapshot')
    .description(
      'Replaces the settings of sub accounts with those in a snapshot. The snapshot holds settings when accounts[].include is configured. Reduces capacities first.',
    )
    .argument('[snapshot]', `${referenceForms} (default: latest)`)
    .option('--only <id...>', 'only these sub accounts')
    .action(run(async () => (await import('../verbs/accounts-restore.ts')).restoreSettings))
  managing(accounts.command('coverage'))
    .summary('list the sub accounts that have no recent good backup')
    .description(
      'Shows for each sub account whether a configured account backs it up, and whether the archive holds a recent good snapshot of it. Exit code 3 when one is not covered.',
    )
    .option(
      '--max-age <duration>',
      'a sub account is stale if its newest good snapshot is older than this',
      '26h',
    )
    .action(run(async () => (await import('../verbs/accounts-coverage.ts')).coverage))
}

function declareChanges(accounts: Command, run: Run): void {
  changing(accounts.command('replace'))
    .summary('replace all settings of a sub account')
    .description(
      'Replaces all settings of a sub account with those in a JSON document. The document must have every setting, like an entry of `accounts list --json`.',
    )
    .argument('<id>', 'id of the sub account')
    .argument('[file]', 'file with the document (default: standard input)')
    .option('--force', force)
    .action(run(async () => (await import('../verbs/accounts-change.ts')).replace))
  changing(accounts.command('update'))
    .summary('change some settings of a sub account')
    .description('Changes some settings of a sub account and keeps all others.')
    .argument('<id>', 'id of the sub account')
    .option('--name <name>', nameForm)
    .option('--max-daily-gb <gb>', 'capacity per day')
    .addOption(retentionDays())
    .option('--searchable <yes|no>', 'whether other accounts may search its logs')
    .option('--accessible <yes|no>', 'whether users of the main account may open it')
    .option('--doc-size <yes|no>', 'whether each log records its size')
    .option('--share-with <id...>', sharing)
    .option('--utilization <minutes|off>', 'how often the service measures utilization')
    .option('--force', force)
    .action(run(async () => (await import('../verbs/accounts-change.ts')).update))
}

function declareMove(accounts: Command, run: Run): void {
  changing(accounts.command('move-capacity'))
    .summary('move daily capacity between sub accounts')
    .description(
      'Moves capacity between sub accounts. Reduces first and increases then, so that the total never grows. Records the move in a journal, so that an interrupted move can be finished.',
    )
    .option('--from <id>', 'account that gives capacity')
    .option('--to <id>', 'account that receives capacity')
    .option('--gb <gb>', 'GB per day to move')
    .option('--set <id=gb...>', 'new capacities, instead of --from, --to and --gb')
    .option('--min-gb <gb>', 'minimum that the giving account keeps', '0')
    .option('--journal <file>', 'journal file (default: ./dashkeep-move-<main account>.json)')
    .option('--resume', 'finish the move in the journal')
    .option('--discard', 'delete the journal and leave the accounts as they are')
    .action(run(async () => (await import('../verbs/accounts-move.ts')).moveCapacity))
}

/** The options of every verb below `accounts`. */
function managing(command: Command): Command {
  return common(command).option(
    '-a, --account <name>',
    'main account, by its configured name or id (default: management, or the only account)',
  )
}

/** The options of the verbs that change the service. */
function changing(command: Command): Command {
  return managing(command)
    .option('--dry-run', 'print the exact body of each request and send nothing')
    .option('-y, --yes', 'send without asking')
}

const retentionDays = () =>
  numberOption('--retention-days <days>', 'number of days that logs are kept')

const nameForm = 'name of letters, digits, spaces and . _ -'
const sharing = 'ids of the accounts that share its objects, or none'
const force = 'send although somebody else has changed the account meanwhile'

const examples = `
Examples:
  dashkeep accounts list
  dashkeep accounts update 12345 --retention-days 14 --dry-run
  dashkeep accounts move-capacity --from 12345 --to 12346 --gb 2
  dashkeep accounts coverage`
