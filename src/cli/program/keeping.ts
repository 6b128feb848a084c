import { type Command, Option } from 'commander'
import { common, type Run, toNumber } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares the verbs that report freshness and decide how long snapshots stay. */
export function declareKeepingVerbs(program: Command, run: Run): void {
  common(program.command('status'))
    .summary('say how fresh and how good the backups are')
    .description(
      "Says of each account what its newest good snapshot is, from the archive alone and not from any run's own word. Exit code 3 when an account is suspect, missing or has a snapshot from the future, 4 when one is stale.",
    )
    .option('-a, --account <name>', 'only this account, by name or id')
    .option('--max-age <duration>', 'older than this is stale, such as 26h')
    .addOption(
      new Option(
        '--ping',
        'ping the configured addresses without {shard}: success when every account is good, else failure; needs --max-age',
      ).conflicts(['account', 'listen']),
    )
    .addOption(
      new Option(
        '--listen <host:port>',
        'serve metrics of all configured accounts for Prometheus, until told to stop',
      ).conflicts(['account', 'json']),
    )
    .option(
      '--interval <duration>',
      'with --listen: time between two looks at the archive (default: 15m)',
    )
    .action(run(async () => (await import('../verbs/status.ts')).status))
  common(program.command('prune'))
    .summary('remove snapshots that no rule keeps')
    .description(
      'Shows which snapshots the retention rules keep, and why, and removes the others once you agree. Also sweeps what interrupted runs left more than a day ago. Rules given here take the place of the configured ones, and so do the names given with --remove: then only these snapshots go.',
    )
    .option('-a, --account <name>', 'only this account, by name or id')
    .option('--keep-last <n>', 'keep the newest snapshots', toNumber)
    .option('--keep-hourly <n>', 'keep the newest of each hour', toNumber)
    .option('--keep-daily <n>', 'keep the newest of each day', toNumber)
    .option('--keep-weekly <n>', 'keep the newest of each week', toNumber)
    .option('--keep-monthly <n>', 'keep the newest of each month', toNumber)
    .option('--keep-yearly <n>', 'keep the newest of each year', toNumber)
    .option('--keep-within <duration>', 'keep what is at most this much older than the newest')
    .option(
      '--remove <name...>',
      'in place of rules: remove these snapshots, given by their whole names',
    )
    .option('-y, --yes', 'remove without asking')
    .action(run(async () => (await import('../verbs/prune.ts')).prune))
  common(program.command('pin'))
    .summary('keep a snapshot whatever the retention rules say')
    .description('Keeps a snapshot whatever the retention rules say, until it is unpinned.')
    .argument('<snapshot>', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .option('--note <text>', 'why; kept with the pin')
    .action(
      run(
        async () => (await import('../verbs/pin.ts')).pin,
        ([snapshot]) => ({ snapshot }),
      ),
    )
  common(program.command('unpin'))
    .summary('leave a pinned snapshot to the retention rules again')
    .description('Leaves a pinned snapshot to the retention rules again.')
    .argument('<snapshot>', referenceForms)
    .option('-a, --account <name>', 'the account, by name or id; needed when there are several')
    .action(
      run(
        async () => (await import('../verbs/pin.ts')).unpin,
        ([snapshot]) => ({ snapshot }),
      ),
    )
}
