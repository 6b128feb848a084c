import { commonEnds } from '../../objects/compare-texts.ts'
import type { Difference, ObjectDiff, Step } from '../../objects/diff-objects.ts'
import { findGaps } from '../../objects/list-gaps.ts'
import type { JsonValue } from '../../objects/lossless-json.ts'
import {
  describeMove,
  formatPath,
  formatStep,
  formatValue,
  isPanel,
  ownPath,
  sameContent,
  shorten,
} from '../../objects/name-difference.ts'
import { plural } from '../../wording.ts'
import type { Colors } from './colors.ts'
import { widthOf } from './table.ts'

/** Characters of a value shown, and of a text around what differs. */
const MAX_VALUE = 100
const CONTEXT = 20
/** Lines of a text shown. */
const MAX_LINES = 40

/** How differences are printed. */
interface DiffStyle {
  readonly colors: Colors
  /** Maximum number of differences. */
  readonly limit?: number | undefined
  /** Maximum width of a line, in columns; undefined for no limit. */
  readonly columns?: number | undefined
}

interface LineStyle {
  readonly colors: Colors
  readonly columns: number
}

/** Formats each difference as one line, or as several when the texts are long. */
export function formatDifferences(
  diff: ObjectDiff,
  { colors, limit = Number.POSITIVE_INFINITY, columns = Number.POSITIVE_INFINITY }: DiffStyle,
): string[] {
  const { differences } = diff
  if (differences.length === 0) return [colors.dim(sameContent)]
  const lines = differences
    .slice(0, limit)
    .flatMap((one) => formatDifference(one, diff, { colors, columns }))
  const hidden = differences.length - limit
  return hidden > 0 ? [...lines, colors.dim(`… and ${plural(hidden, 'more difference')}`)] : lines
}

function formatDifference(difference: Difference, diff: ObjectDiff, style: LineStyle): string[] {
  const { colors } = style
  const maxTitle = Math.min(MAX_VALUE, Math.ceil(style.columns / 4))
  const path = formatPath(difference.path, diff, maxTitle)
  switch (difference.kind) {
    case 'added':
      return [`${colors.green('+')} ${path}${describeItem(difference.path, difference.after)}`]
    case 'removed':
      return [`${colors.red('-')} ${path}${describeItem(difference.path, difference.before)}`]
    case 'moved': {
      const { before, after } = difference
      return [`${colors.cyan('↔')} ${path} ${describeMove(before, after)}`]
    }
    case 'reordered':
      return [`${colors.cyan('↔')} ${path} in another order`]
    case 'changed':
      return formatChange(path, difference.before, difference.after, style)
  }
}

/** The value of an item. A panel has none: its label names it. */
function describeItem(path: readonly Step[], value: JsonValue): string {
  return isPanel(path.at(-1)) ? '' : `: ${formatValue(value)}`
}

function formatChange(
  path: string,
  before: JsonValue,
  after: JsonValue,
  { colors, columns }: LineStyle,
): string[] {
  const sign = colors.yellow('~')
  if (typeof before === 'string' && typeof after === 'string') {
    if (before.includes('\n') || after.includes('\n')) {
      return [`${sign} ${path}:`, ...formatLines(before, after, colors)]
    }
    if (before.length > MAX_VALUE || after.length > MAX_VALUE) {
      return inTwoLines(path, cutToDifference(before, after), colors)
    }
  }
  const values = [formatValue(before), formatValue(after)] as const
  const line = `${sign} ${path}: ${colors.red(values[0])} → ${colors.green(values[1])}`
  return widthOf(line) <= columns ? [line] : inTwoLines(path, values, colors)
}

/** Prints the path and below it each value on a line of its own. */
function inTwoLines(path: string, [before, after]: readonly [string, string], colors: Colors) {
  return [
    `${colors.yellow('~')} ${path}:`,
    `    ${colors.red(`- ${before}`)}`,
    `    ${colors.green(`+ ${after}`)}`,
  ]
}

/** The removed and added lines of a text. */
function formatLines(before: string, after: string, colors: Colors): string[] {
  const [left, right] = [before.split('\n'), after.split('\n')]
  const gaps = findGaps(left, right, (one, other) => one === other)
  const lines = gaps.flatMap(({ from, removed, to, added }) => [
    ...left.slice(from, from + removed).map((line) => colors.red(`- ${shorten(line)}`)),
    ...right.slice(to, to + added).map((line) => colors.green(`+ ${shorten(line)}`)),
  ])
  const hidden = lines.length - MAX_LINES
  const more = hidden > 0 ? [colors.dim(`… and ${plural(hidden, 'more line')}`)] : []
  return [...lines.slice(0, MAX_LINES), ...more].map((line) => `    ${line}`)
}

/** The different part of two long texts, with some context. */
function cutToDifference(before: string, after: string): [string, string] {
  const { start, end } = commonEnds(before, after)
  const from = Math.max(start - CONTEXT, 0)
  const to = Math.max(end - CONTEXT, 0)
  const cut = (text: string) => {
    const part = shorten(text.slice(from, text.length - to))
    return `${from > 0 ? '…' : ''}${part}${to > 0 ? '…' : ''}`
  }
  return [cut(before), cut(after)]
}

/** Summarizes the differences in one line: title, panels, members. */
export function summarizeDifferences(diff: ObjectDiff): string {
  const { differences, type } = diff
  if (differences.length === 0) return sameContent
  const parts: string[] = []
  const panels = { added: 0, removed: 0, moved: 0 }
  const members = new Map<string, Difference[]>()
  for (const difference of differences) {
    const { kind, path } = difference
    const [member = '', ...rest] = ownPath(path, type)
    if (isPanel(path.at(-1)) && kind in panels) panels[kind as keyof typeof panels] += 1
    else if (kind === 'changed' && member === 'title' && rest.length === 0) {
      parts.push(`title ${formatValue(difference.before)} → ${formatValue(difference.after)}`)
    } else {
      const name = formatStep(member, diff)
      members.set(name, [...(members.get(name) ?? []), difference])
    }
  }
  for (const [kind, number] of Object.entries(panels)) {
    if (number > 0) parts.push(`${plural(number, 'panel')} ${kind}`)
  }
  for (const [name, [first, ...others]] of members) {
    const only = first && others.length === 0
    parts.push(
      only
        ? `${formatPath(first.path, diff)} ${first.kind}`
        : `${name}: ${plural(others.length + 1, 'difference')}`,
    )
  }
  return parts.join('; ')
}
