import stringWidth from 'fast-string-width'
import type { Colors } from './terminal.ts'

/** Lays out rows below a header, without borders; columns in `right` are aligned to the right. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { colors, right = [] }: { colors: Colors; right?: readonly number[] },
): string {
  const lines = [header.map((word) => colors.bold(word)), ...rows]
  const widths = header.map((_, column) =>
    lines.reduce((width, cells) => Math.max(width, stringWidth(cells[column] ?? '')), 0),
  )
  const pad = (cell: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - stringWidth(cell))
    return right.includes(column) ? space + cell : cell + space
  }
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n')
}
