import type { Command } from 'commander'
import { common, numberOption, oneAccount, onlyAccount, type Run } from '../options.ts'
import { referenceForms } from '../select/snapshot-reference.ts'

/** Declares the verbs that copy snapshots and decide how long they stay. */
export function declareKeepingVerbs(program: Command, run: Run): void {
  common(program.command('copy'))
    .summary('copy snapshots to another store, or repair the archive from there')
    .description(
      'Copies the snapshots that the other store does not have, byte for byte, and reads each file back. Deletes and overwrites nothing, and needs no key for encrypted snapshots. Damaged files are not copied: exit code 5. With --repair, replaces damaged and missing files of the archive by those of the copy.',
    )
    .requiredOption('--to <store>', 'name of a configured copy, s3://bucket/prefix or a folder')
    .addOption(onlyAccount())
    .option('--repair', 'replace damaged files of the archive with those of the copy')
    .option('-n, --dry-run', 'only show what would be copied or replaced')
    .option('-y, --yes', 'with --repair: replace without asking')
    .action(run(async () => (await import('../verbs/copy.ts')).copy))
  common(program.command('prune'))
    .summary('remove snapshots that no retention rule keeps')
    .description(
      'Shows which snapshots the retention rules keep and why, asks, and removes the others. Also removes what interrupted runs left more than a day ago. Rules given here replace the configured rules. With --remove, no rules apply: prune removes only the named snapshots.',
    )
    .addOption(onlyAccount())
    .addOption(numberOption('--keep-last <n>', 'keep the <n> newest snapshots'))
    .addOption(
      numberOption('--keep-hourly <n>', 'keep the newest snapshot of each hour, for <n> hours'),
    )
    .addOption(
      numberOption('--keep-daily <n>', 'keep the newest snapshot of each day, for <n> days'),
    )
    .addOption(
      numberOption('--keep-weekly <n>', 'keep the newest snapshot of each week, for <n> weeks'),
    )
    .addOption(
      numberOption('--keep-monthly <n>', 'keep the newest snapshot of each month, for <n> months'),
    )
    .addOption(
      numberOption('--keep-yearly <n>', 'keep the newest snapshot of each year, for <n> years'),
    )
    .option('--keep-within <duration>', 'keep snapshots up to this much older than the newest')
    .option('--remove <name...>', 'remove these snapshots, by full name, instead of applying rules')
    .option('-y, --yes', 'remove without asking')
    .action(run(async () => (await import('../verbs/prune.ts')).prune))
  common(program.command('pin'))
    .summary('protect a snapshot from prune')
    .description('Protects a snapshot: prune keeps it, whatever the rules, until it is unpinned.')
    .argument('<snapshot>', referenceForms)
    .addOption(oneAccount())
    .option('--note <text>', 'reason, stored with the pin')
    .action(run(async () => (await import('../verbs/pin.ts')).pin))
  common(program.command('unpin'))
    .summary('end the protection of a pinned snapshot')
    .description('Removes the pin of a snapshot. The retention rules apply to it again.')
    .argument('<snapshot>', referenceForms)
    .addOption(oneAccount())
    .action(run(async () => (await import('../verbs/pin.ts')).unpin))
}
