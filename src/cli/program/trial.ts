import type { Command } from 'commander'
import { numberOption, type Run } from '../options.ts'

/** Declares the verbs that try dashkeep on this machine: `sandbox` and `demo`. */
export function declareTrialVerbs(program: Command, run: Run): void {
  program
    .command('sandbox')
    .summary('run the remote service on this machine, for trials and tests')
    .description(
      'Runs the remote service on this machine until interrupted. Prints the accounts, their tokens and an example command. Without options, serves one small sample account.',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(numberOption('-p, --port <port>', 'port to listen on (default: a free one)'))
    .option('--objects <folder...>', 'one account for each folder of export documents')
    .option(
      '--admin-email <address...>',
      'admins of these accounts; `accounts create` must name one of them (default: admin@example.com)',
    )
    .option('--generate <size>', 'one account with about this much data per type, such as 64MB')
    .addOption(numberOption('--seed <number>', 'seed of --generate and --shuffle'))
    .option('--hit-bytes <size>', 'minimum size of a generated object')
    .option('--shuffle', 'change the order and the scores of the hits with each export')
    .option('--gzip', 'compress exports for clients that accept it')
    .option(
      '--form <form>',
      'specified: answer as the specification says; deployed: answer as deployed services do',
      'specified',
    )
    .option('--path-prefix <path>', 'prefix of the unversioned paths, such as /v1')
    .option('--region <region>', 'region of this server')
    .option('--database <file>', 'SQLite file that keeps the state (default: in memory)')
    .option(
      '--fault <fault...>',
      "a fault to start with, such as 'export:dashboard status=503 times=2'",
    )
    .option('--json', 'print address and tokens as JSON')
    .action(run(async () => (await import('../verbs/sandbox.ts')).sandbox))
  program
    .command('demo')
    .summary('demonstrate backup, verification and restore on this machine')
    .description(
      'Demonstrates dashkeep on this machine: starts a sandbox with sample objects, backs it up into a folder, deletes a search, lists and verifies the snapshots, finds the search with history and restores it. Keeps the folder.',
    )
    .option('--folder <folder>', 'folder for the archive (default: a new temporary folder)')
    .option(
      '--web',
      'make three weeks of snapshots instead, and serve them as web pages until interrupted',
    )
    .action(run(async () => (await import('../verbs/demo.ts')).demo))
}
