import stringWidth from 'fast-string-width'
import type { Terminal } from '../terminal.ts'
import { cleanColored, mapText } from './colors.ts'

/** How a table is laid out where the terminal is narrow. Columns go by the words of the header. */
export interface TableLayout {
  /** Places of the columns that are aligned to the right. */
  readonly right?: readonly number[]
  /** Columns of text that may be shortened; ids and names of snapshots are to be copied. */
  readonly flexible?: readonly string[]
  /** Columns that may be left out, the first one first. */
  readonly optional?: readonly string[]
  /**
   * The last column, when its text may go over several lines. Only for dashkeep's own words: text from
   * outside begins no line.
   */
  readonly wrapped?: string
}

/** The least width that is left of a column of text, unless it needs less. */
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

/** The widths of the columns that stay; undefined for those that are left out. */
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
 * Cuts a text to what the rest of its line leaves of a terminal's width, such as an id before it, and
 * ends it with an ellipsis. A few columns of it stay in any case. In a pipe it stays whole.
 */
export function fitText(
  { columns }: Pick<Terminal, 'columns'>,
  text: string,
  rest: string,
): string {
  if (columns === undefined) return text
  return shorten(cleanColored(text), Math.max(roomBeside({ columns }, rest), MIN_TEXT))
}

/** A line that names an object after a sign. On a terminal the title is cut, the id is not. */
export function formatObject(
  terminal: Pick<Terminal, 'colors' | 'columns'>,
  sign: string,
  { id, title }: { id: string; title?: string | undefined },
): string {
  const start = `  ${sign} ${id}`
  return title ? `${start}  ${terminal.colors.dim(fitText(terminal, title, `${start}  `))}` : start
}

/** Columns of a terminal that the rest of a line leaves; without end in a pipe. */
export function roomBeside({ columns }: Pick<Terminal, 'columns'>, rest: string): number {
  if (columns === undefined) return Number.POSITIVE_INFINITY
  return Math.max(columns - widthOf(rest), 0)
}

/** Columns that a line takes, colours aside. */
export function widthOf(line: string): number {
  return stringWidth(cleanColored(line))
}

/** Cuts a cell, colours kept, and ends it with an ellipsis. */
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

/** Breaks a text between words. A word that is longer than a line stays whole. */
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
