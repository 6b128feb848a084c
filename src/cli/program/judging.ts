import { type Command, Option } from 'commander'
import { common, maxAge, maxProofAge, onlyAccount, type Run } from '../options.ts'

/** Declares the verbs that report how old, how good and how complete the backups are. */
export function declareJudgingVerbs(program: Command, run: Run): void {
  common(program.command('status'))
    .summary('report how old and how good the backups are')
    .description(
      'Shows the newest good snapshot of each account. Reads the archive itself and does not rely on what a run reported. Exit code 3 when an account is suspect, missing or has a snapshot from the future, 4 when one is stale or not proven.',
    )
    .addOption(onlyAccount())
    .addOption(maxAge())
    .addOption(maxProofAge())
    .addOption(
      new Option(
        '--ping',
        'report the result to the configured ping addresses without {shard}: success when every account is good, otherwise failure; requires --max-age',
      ).conflicts(['account', 'listen']),
    )
    .addOption(
      new Option(
        '--listen <host:port>',
        'serve metrics of all configured accounts for Prometheus, until stopped',
      ).conflicts(['account', 'json']),
    )
    .option(
      '--interval <duration>',
      'with --listen: time between two reads of the archive (default: 15m)',
    )
    .action(run(async () => (await import('../verbs/status.ts')).status))
  common(program.command('report'))
    .summary('report what was backed up since a date, for an audit')
    .description(
      'Reports for each account which runs were due and which of them made a good snapshot, suspect and damaged snapshots, gaps, retention, locks, recorded checks and copies. Reads every manifest of the archive; the schedule of the configuration says when runs were due. Exit code 3 when something could not be read; problems that the report describes do not change the exit code.',
    )
    .addOption(onlyAccount())
    .option('--since <when>', 'start of the span, such as 2026-11-01 or 90d', '90d')
    .addOption(
      new Option('--format <format>', 'how to print it (default: markdown)')
        .choices(['markdown', 'html', 'json'])
        .conflicts('json'),
    )
    .action(run(async () => (await import('../verbs/report.ts')).report))
}
