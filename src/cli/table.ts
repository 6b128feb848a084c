import stringWidth from 'fast-string-width'
import { type Colors, cleanColored } from './colors.ts'

/** Characters of a cell: one endless name must not widen every row. */
const MAX_CELL = 200

/**
 * Lays out rows below a header, without borders, and returns the lines. Columns in `right` are
 * aligned to the right.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { colors, right = [] }: { colors: Colors; right?: readonly number[] },
): string[] {
  const lines = [header.map((word) => colors.bold(word)), ...rows].map((cells) =>
    cells.map((cell) => cleanColored(cell, MAX_CELL)),
  )
  const widths = header.map((_, column) =>
    lines.reduce((width, cells) => Math.max(width, stringWidth(cells[column] ?? '')), 0),
  )
  const pad = (cell: string, column: number) => {
    const space = ' '.repeat((widths[column] ?? 0) - stringWidth(cell))
    return right.includes(column) ? space + cell : cell + space
  }
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd())
}
