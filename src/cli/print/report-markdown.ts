import stringWidth from 'fast-string-width'
import { cleanLine } from '../../clean-text.ts'
import type { Block } from './report-document.ts'

/** Longest text of a cell or a line, in UTF-16 units. */
const MAX_TEXT = 300

/** Formats a document as GitHub Flavored Markdown, with aligned tables, which people can read as text. */
export function formatMarkdown(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block, index) =>
    index === 0 ? formatBlock(block) : ['', ...formatBlock(block)],
  )
}

function formatBlock(block: Block): string[] {
  switch (block.kind) {
    case 'heading':
      return [`${'#'.repeat(block.level)} ${escapeText(block.text)}`]
    case 'text':
      return [block.tone ? `**${escapeText(block.text)}**` : escapeText(block.text)]
    case 'list':
      return block.items.map((item) => `- ${escapeText(item)}`)
    case 'facts':
      // Another sign than that of a list before it, which would otherwise continue.
      return block.facts.map(([name, value]) => `* ${escapeText(name)}: ${escapeText(value)}`)
    case 'table':
      return formatTable(block)
  }
}

function formatTable({ header, rows, right = [] }: Block & { kind: 'table' }): string[] {
  const lines = [header, ...rows].map((cells) => cells.map(escapeText))
  const widths = header.map((_, place) =>
    lines.reduce((width, cells) => Math.max(width, stringWidth(cells[place] ?? '')), 3),
  )
  const join = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const pad = (cell: string, place: number) => {
    const space = ' '.repeat(Math.max(0, (widths[place] ?? 0) - stringWidth(cell)))
    return right.includes(place) ? space + cell : cell + space
  }
  const rule = widths.map((width, place) => {
    return right.includes(place) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)
  })
  const [first = [], ...others] = lines.map((cells) => cells.map(pad))
  return [join(first), join(rule), ...others.map(join)]
}

/**
 * Makes text safe inside Markdown: it cannot become markup, a link or HTML. Characters that need no
 * escape where they are stay as they are, so that names remain readable.
 */
function escapeText(text: string): string {
  return cleanLine(text, MAX_TEXT)
    .replaceAll(/[\\[\]<>|~]|\*(?!\s|$)|(?<!\s)\*|(?<!\w)_|_(?!\w)|&(?=[#\w])/g, '\\$&')
    .replaceAll(/\b(https?)(?=:)|\b(www)(?=\.)/gi, '$&\\')
    .replace(/^(\s*)([#*+-](?=\s|$|#)|\d+(?=[.)](?:\s|$)))/, (_, space, mark) =>
      escapeStart(space, mark),
    )
}

function escapeStart(space: string, mark: string): string {
  return /\d/.test(mark) ? `${space}${mark}\\` : `${space}\\${mark}`
}
