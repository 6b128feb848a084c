import stringWidth from 'fast-string-width'
import { cleanLine } from '../../clean-text.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Characters of a title that are looked at. */
const MAX_TITLE = 300

/** Text from outside as one short line without hidden characters. */
export function cleanTitle(text: string): string {
  return cleanLine(text, MAX_TITLE).trim()
}

/** Escapes a text for an element or a quoted attribute. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}

/**
 * Breaks text into lines of at most `columns` narrow characters, at spaces where it can. The last
 * of `maxLines` lines ends with `…` when text is left.
 */
export function fitLines(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = []
  let left = text
  while (left !== '' && lines.length < maxLines) {
    if (stringWidth(left) <= columns) return [...lines, left]
    if (lines.length === maxLines - 1) return [...lines, `${takeColumns(left, columns - 1)}…`]
    const fitting = takeColumns(left, columns)
    const space = fitting.lastIndexOf(' ')
    const line = left[fitting.length] === ' ' || space <= 0 ? fitting : fitting.slice(0, space)
    if (line === '') return lines
    lines.push(line)
    left = left.slice(line.length).trimStart()
  }
  return lines
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** As much of a text as fits into the columns, in whole characters as people see them. */
function takeColumns(text: string, columns: number): string {
  let taken = ''
  let width = 0
  for (const { segment } of segmenter.segment(text)) {
    width += stringWidth(segment)
    if (width > columns) return taken
    taken += segment
  }
  return taken
}
