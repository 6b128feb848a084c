import stringWidth from 'fast-string-width'
import type { Terminal } from '../terminal.ts'
import { cleanColored, mapText } from './colors.ts'

/** Layout of a table, also for narrow terminals. Columns are named by their headings. */
interface TableLayout {
  /** Indexes of the right-aligned columns. */
  readonly right?: readonly number[]
  /** Columns whose text may be cut. Ids and snapshot names are never cut, so that they can be copied. */
  readonly flexible?: readonly string[]
  /** Columns that may be left out, in this order. */
  readonly optional?: readonly string[]
  /**
   * The last column, if its text may wrap. Only for dashkeep's own text: text from outside must not
   * start a line.
   */
  readonly wrapped?: string
}

/** The minimum width of a column that is cut. */
const MIN_TEXT = 12

/** Spaces between two columns. */
const GAP = '  '

/**
 * Lays out rows below a header, without borders, and returns the lines. On a terminal they fit its
 * width as far as the layout allows; in a pipe nothing is shortened or left out.
 */
export function formatTable(
  { colors, columns }: Pick<Terminal, 'colors' | 'columns'>,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  layout: TableLayout = {},
): string[] {
  const head = header.map((word) => colors.bold(word))
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cleanColored(cell)))
  const natural = header.map((_, place) =>
    lines.reduce((width, cells) => Math.max(width, stringWidth(cells[place] ?? '')), 0),
  )
  const widths = columns === undefined ? natural : fitWidths(natural, columns, header, layout)
  const isWrapped = layout.wrapped !== undefined && header.at(-1) === layout.wrapped
  const pad = (cell: string, place: number) => {
    const space = ' '.repeat(Math.max(0, (widths[place] ?? 0) - stringWidth(cell)))
    return layout.right?.includes(place) ? space + cell : cell + space
  }
  const join = (cells: readonly string[]) =>
    cells
      .flatMap((cell, place) => (widths[place] === undefined ? [] : pad(cell, place)))
      .join(GAP)
      .trimEnd()
  return lines.flatMap((cells) => {
    const fitted = cells.map((cell, place) => shorten(cell, widths[place] ?? 0))
    if (!isWrapped) return [join(fitted)]
    const [first = '', ...others] = wrap(cells.at(-1) ?? '', widths.at(-1) ?? 0)
    const blank = fitted.slice(0, -1).fill('')
    return [join([...fitted.slice(0, -1), first]), ...others.map((text) => join([...blank, text]))]
  })
}

/** The width of each column; undefined for a column that is left out. */
function fitWidths(
  natural: readonly number[],
  columns: number,
  header: readonly string[],
  { flexible = [], optional = [], wrapped }: TableLayout,
): (number | undefined)[] {
  const isText = header.map((word) => flexible.includes(word) || word === wrapped)
  const widths: (number | undefined)[] = [...natural]
  const least = natural.map((width, place) => (isText[place] ? Math.min(width, MIN_TEXT) : width))
  for (const word of optional) {
    const place = header.indexOf(word)
    const needed = least.filter((_, other) => widths[other] !== undefined)
    if (place >= 0 && totalOf(needed) > columns) widths[place] = undefined
  }
  for (;;) {
    const over = totalOf(widths.filter((width) => width !== undefined)) - columns
    const widest = widths.reduce<number>((found, width = 0, place) => {
      if (!isText[place] || width <= (least[place] ?? 0)) return found
      return width > (widths[found] ?? -1) ? place : found
    }, -1)
    const width = widths[widest]
    if (over <= 0 || width === undefined) return widths
    widths[widest] = width - 1
  }
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1))
}

/**
 * Cuts a text to the width that `rest`, the other text of the line, leaves on the terminal. Ends a cut
 * text with an ellipsis and keeps at least 12 columns. Cuts nothing in a pipe.
 */
export function fitText(
  { columns }: Pick<Terminal, 'columns'>,
  text: string,
  rest: string,
): string {
  if (columns === undefined) return text
  return shorten(cleanColored(text), Math.max(roomBeside({ columns }, rest), MIN_TEXT))
}

/** A line with a sign, the id and the title of an object. On a terminal the title may be cut. */
export function formatObject(
  terminal: Pick<Terminal, 'colors' | 'columns'>,
  sign: string,
  { id, title }: { id: string; title?: string | undefined },
): string {
  const start = `  ${sign} ${id}`
  return title ? `${start}  ${terminal.colors.dim(fitText(terminal, title, `${start}  `))}` : start
}

/** The columns that `rest` leaves on the terminal; infinite in a pipe. */
export function roomBeside({ columns }: Pick<Terminal, 'columns'>, rest: string): number {
  if (columns === undefined) return Number.POSITIVE_INFINITY
  return Math.max(columns - widthOf(rest), 0)
}

/** The width of a line in columns. */
export function widthOf(line: string): number {
  return stringWidth(cleanColored(line))
}

/** Cuts a cell, keeps its colours and ends it with an ellipsis. */
function shorten(cell: string, columns: number): string {
  if (stringWidth(cell) <= columns) return cell
  let left = columns - 1
  return mapText(cell, (text) => {
    if (left < 0) return ''
    let fitting = ''
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      left -= stringWidth(segment)
      if (left < 0) return `${fitting}…`
      fitting += segment
    }
    return fitting
  })
}

/** Wraps a text between words. A word longer than a line is not broken. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    const longer = `${line} ${word}`
    if (line === undefined || stringWidth(longer) > columns) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines
}
