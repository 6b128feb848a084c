import type { Command } from 'commander'
import { type Run, toNumber } from '../options.ts'

/** Declares the verbs that try dashkeep on this machine: `sandbox` and `demo`. */
export function declareTrialVerbs(program: Command, run: Run): void {
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
    .action(run(async () => (await import('../verbs/sandbox.ts')).sandbox))
  program
    .command('demo')
    .summary('see backups, a deletion and the way back, on this machine')
    .description(
      'Runs the main job on this machine: a sandbox with sample objects, backups into a folder, a search that somebody deletes, list and verify, then history finds the search and restore brings it back. The folder stays, to be looked at.',
    )
    .option('--folder <folder>', 'where the archive goes (default: a new temporary folder)')
    .action(run(async () => (await import('../verbs/demo.ts')).demo))
}
