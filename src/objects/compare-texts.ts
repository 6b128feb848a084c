// Tested by test/e2e/finding.test.ts

import { diffWordsWithSpace } from 'diff'
import { findGaps, limitOf } from './list-gaps.ts'

/** A part of a line. */
export interface Piece {
  readonly text: string
  /** Whether the other text lacks it. */
  readonly differs: boolean
}

/** A line of one text or of both. */
export interface TextLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly pieces: readonly Piece[]
}

/** How two texts differ, line by line, with a few lines around. */
interface TextComparison {
  /** The lines of each stretch that differs. Lines between two stretches are left out. */
  readonly stretches: readonly (readonly TextLine[])[]
  /** Whether the texts differ in more than is shown. */
  readonly isCut: boolean
}

/** Equal lines shown around a difference, and equal characters within a long line. */
const CONTEXT_LINES = 2
const CONTEXT_LENGTH = 200
/** Characters of each text that are compared. What precedes and follows them is equal in both. */
const MAX_LENGTH = 500_000
/** Characters whose words are compared. */
const MAX_WORDS_LENGTH = 20_000
const MAX_LINES = 400

/**
 * Compares two texts by lines, and changed lines by words. The time is limited: when the texts differ
 * in too many places, all lines count as removed and added.
 */
export function compareTexts(before: string, after: string): TextComparison {
  const { start, end } = commonEnds(before, after)
  const from = contextBefore(before, start)
  const behind = contextBehind(before, end)
  // A long line is cut on both sides.
  const head = from > 0 && before[from - 1] !== '\n' ? '…' : ''
  const tail = behind > 0 && before[before.length - behind] !== '\n' ? '…' : ''
  const cut = (text: string) => `${head}${text.slice(from, text.length - behind)}${tail}`
  const [older, newer] = [cut(before), cut(after)]
  const left = older.slice(0, MAX_LENGTH).split('\n')
  const right = newer.slice(0, MAX_LENGTH).split('\n')
  const gaps = findGaps(left, right, (one, another) => one === another)
  const stretches: TextLine[][] = []
  let last = 0
  let count = 0
  for (const [nth, { from: at, removed, to, added }] of gaps.entries()) {
    if (count > MAX_LINES) return { stretches, isCut: true }
    const context = left.slice(Math.max(last, at - CONTEXT_LINES), at)
    last = at + removed
    const next = gaps[nth + 1]?.from ?? left.length
    const behindGap = left.slice(last, Math.min(last + CONTEXT_LINES, next))
    last += behindGap.length
    const changed = compareLines(left.slice(at, at + removed), right.slice(to, to + added))
    const lines = [...context.map(sameLine), ...changed, ...behindGap.map(sameLine)]
    count += lines.length
    stretches.push(lines.slice(0, MAX_LINES))
  }
  const isTooLong = older.length > MAX_LENGTH || newer.length > MAX_LENGTH
  return { stretches, isCut: isTooLong || count > MAX_LINES }
}

/** The number of equal characters at the start and at the end of two texts. */
export function commonEnds(left: string, right: string): { start: number; end: number } {
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start]) start += 1
  let end = 0
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) {
    end += 1
  }
  return { start, end }
}

/** Where the comparison begins: a few lines before the first difference, at `start`. */
function contextBefore(text: string, start: number): number {
  let at = start
  for (let lines = 0; lines <= CONTEXT_LINES && at > 0; lines += 1) {
    at = text.lastIndexOf('\n', at - 1)
  }
  return Math.max(at + 1, start - CONTEXT_LENGTH, 0)
}

/** Number of characters to leave out at the end. A few lines after the last difference remain. */
function contextBehind(text: string, end: number): number {
  let at = text.length - end
  for (let lines = 0; lines <= CONTEXT_LINES; lines += 1) {
    const next = text.indexOf('\n', at + (lines === 0 ? 0 : 1))
    at = next < 0 ? text.length : next
  }
  return Math.max(text.length - at, end - CONTEXT_LENGTH, 0)
}

function sameLine(text: string): TextLine {
  return { kind: 'same', pieces: [{ text, differs: false }] }
}

/** The lines removed, then those added, with the words that differ. */
function compareLines(removed: readonly string[], added: readonly string[]): TextLine[] {
  const [older, newer] = [removed.join('\n'), added.join('\n')]
  const length = older.length + newer.length
  const isShort = removed.length > 0 && added.length > 0 && length <= MAX_WORDS_LENGTH
  const words = isShort
    ? diffWordsWithSpace(older, newer, { maxEditLength: limitOf(length) })
    : undefined
  const isAlike = words?.some(({ added, removed, value }) => !added && !removed && /\w/.test(value))
  if (words === undefined || !isAlike) {
    const line = (kind: TextLine['kind']) => (text: string) => ({
      kind,
      pieces: [{ text, differs: false }],
    })
    return [...removed.map(line('removed')), ...added.map(line('added'))]
  }
  const side = (kind: 'removed' | 'added', other: 'removed' | 'added') => {
    const pieces = words.filter((part) => !part[other])
    return intoLines(pieces.map((part) => ({ text: part.value, differs: part[kind] }))).map(
      (line): TextLine => ({ kind, pieces: line }),
    )
  }
  return [...side('removed', 'added'), ...side('added', 'removed')]
}

function intoLines(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]]
  for (const { text, differs } of pieces) {
    for (const [nth, part] of text.split('\n').entries()) {
      if (nth > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ text: part, differs })
    }
  }
  return lines
}
