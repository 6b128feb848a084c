import { type Command, Option } from 'commander'
import { common, type Run } from '../options.ts'

/** Declares the verbs that check tokens, store and configuration. */
export function declareServiceVerbs(program: Command, run: Run): void {
  common(program.command('whoami'))
    .summary('say whom each token belongs to')
    .description('Asks the service whom the token of each configured account belongs to.')
    .option('-a, --account <name...>', 'only these accounts of the configuration, by name or id')
    .action(run(async () => (await import('../verbs/whoami.ts')).whoami))
  common(program.command('doctor'))
    .summary('check configuration, tokens, store and clock')
    .description(
      'Checks everything a backup needs and says each finding in a line: configuration, tokens and their owners, regions, the exports of each type, the right to write, read, list and delete in the store, and the clock.',
    )
    .action(run(async () => (await import('../verbs/doctor.ts')).doctor))
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
    .action(run(async () => (await import('../verbs/config-init.ts')).init))
  common(config.command('check'))
    .description('Reads the configuration and names every problem in it.')
    .action(run(async () => (await import('../verbs/config.ts')).check))
  common(config.command('print'))
    .description('Prints the configuration with every default filled in. It holds no secret.')
    .action(run(async () => (await import('../verbs/config.ts')).print))
  config
    .command('schema')
    .description('Prints the JSON schema of the configuration file.')
    .action(run(async () => (await import('../verbs/config.ts')).schema))
}
