import { type Command, Option } from 'commander'
import { common, onlyAccounts, type Run } from '../options.ts'

/** Declares the verbs that check tokens, store and configuration. */
export function declareServiceVerbs(program: Command, run: Run): void {
  common(program.command('whoami'))
    .summary('print the account that each token belongs to')
    .description('Asks the service which account the token of each configured account belongs to.')
    .addOption(onlyAccounts())
    .action(run(async () => (await import('../verbs/whoami.ts')).whoami))
  common(program.command('doctor'))
    .summary('check configuration, tokens, store and clock')
    .description(
      'Checks everything that a backup needs and prints one line per finding: configuration, tokens and their owners, regions, the exports of each type, the rights to write, read, list and delete in the store, and the clock.',
    )
    .action(run(async () => (await import('../verbs/doctor.ts')).doctor))
  const config = program
    .command('config')
    .summary('write, check or print the configuration, or print its schema')
    .description('Writes a configuration file, checks or prints it, or prints its schema.')
    .helpCommand(false)
  declareInit(config, run)
  common(config.command('check'))
    .summary('report every problem in the configuration')
    .description('Reads the configuration and reports every problem in it.')
    .action(run(async () => (await import('../verbs/config.ts')).check))
  common(config.command('print'))
    .summary('print the configuration with all defaults')
    .description('Prints the configuration with all defaults filled in, without secrets.')
    .action(run(async () => (await import('../verbs/config.ts')).print))
  config
    .command('schema')
    .summary('print the JSON schema of the configuration file')
    .description('Prints the JSON schema of the configuration file.')
    .action(run(async () => (await import('../verbs/config.ts')).schema))
}

function declareInit(config: Command, run: Run): void {
  config
    .command('init')
    .summary('write a configuration file for one account')
    .description(
      'Writes a commented configuration file for one account. On a terminal, asks for the settings that no option gives. Without a terminal, --base-url, --store and --token-env or --token-file are required. The file names where the token is and never holds the token itself.',
    )
    .option('--base-url <url>', 'address of the service, such as https://api.example.com')
    .option('--path-prefix <path>', 'prefix of the paths of the service, such as /v1')
    .option('--account-id <id>', 'id of the account; dashkeep refuses a token of another account')
    .option('-s, --store <url>', 's3://bucket/prefix, or a folder such as ./backups')
    .option('--token-env <name>', 'environment variable that holds the API token')
    .addOption(
      new Option('--token-file <file>', 'file that holds the API token').conflicts('tokenEnv'),
    )
    .option('--schedule <cron>', "when the worker backs up, such as '15 3 * * *'")
    .option('-o, --output <file>', 'file to write', 'dashkeep.yaml')
    .option('--force', 'replace an existing file')
    .option('--json', 'print one machine-readable document')
    .action(run(async () => (await import('../verbs/config-init.ts')).init))
}
