import Table from 'cli-table3'
import type { Colors } from './terminal.ts'

/** Lays out rows below a header, without borders; columns in `right` are aligned to the right. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { colors, right = [] }: { colors: Colors; right?: readonly number[] },
): string {
  const none = ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left']
  const more = ['bottom-right', 'left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid']
  const table = new Table({
    head: header.map((word) => colors.bold(word)),
    colAligns: header.map((_, column) => (right.includes(column) ? 'right' : 'left')),
    chars: { ...Object.fromEntries([...none, ...more].map((part) => [part, ''])), middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}
