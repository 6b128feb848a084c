import type { CopyStatus } from '../../run/copy-status.ts'
import { formatAge } from '../../wording.ts'
import type { Terminal } from '../terminal.ts'
import { formatTable } from './table.ts'

/** Prints a table of the copies, and why one could not be read. */
export function printCopies(
  terminal: Terminal,
  copies: readonly CopyStatus[],
  { now }: { now: Date },
): void {
  const { colors } = terminal
  const rows = copies.flatMap(({ name, accounts }) =>
    accounts.map(({ accountId, missing, snapshot, takenAt, stale }) => [
      name,
      String(accountId),
      colorState({ missing, stale }, colors),
      snapshot ?? '',
      takenAt ? formatAge(takenAt, now) : '',
      String(missing),
    ]),
  )
  if (rows.length > 0) {
    terminal.print()
    const header = ['COPY', 'ACCOUNT', 'STATE', 'NEWEST', 'AGE', 'MISSING']
    terminal.print(formatTable(terminal, header, rows, { right: [1, 5], flexible: ['COPY'] }))
  }
  for (const { name, error } of copies) {
    if (error !== undefined) terminal.print(`${colors.red('unreadable')} copy ${name}: ${error}`)
  }
}

function colorState(
  { missing, stale }: { missing: number; stale: boolean },
  colors: Terminal['colors'],
): string {
  if (stale) return colors.red('stale')
  return missing > 0 ? colors.yellow('behind') : colors.green('complete')
}
