import { html } from 'hono/html'
import { cleanLine } from '../../clean-text.ts'
import { compareTexts, type Piece, type TextLine } from '../../objects/compare-texts.ts'
import type { Difference, ObjectDiff } from '../../objects/diff-objects.ts'
import type { JsonValue } from '../../objects/lossless-json.ts'
import {
  describeMove,
  formatPath,
  formatValue,
  isPanel,
  sameContent,
} from '../../objects/name-difference.ts'
import { plural } from '../../wording.ts'
import { type Markup, outside } from '../markup.ts'

/** Differences of one list. */
const MAX_DIFFERENCES = 200
/** Characters of a text that stays on one line. */
const MAX_LINE = 100
/** Characters of a line that is compared, and of an equal part in it. */
const MAX_PIECE = 2000
const MAX_SAME = 160

type Names = Pick<ObjectDiff, 'type' | 'references'>

/** A list of differences, each with its sign and its place in the object. */
export function differenceList(differences: readonly Difference[], names: Names): Markup {
  const shown = differences.slice(0, MAX_DIFFERENCES)
  const more = differences.length - shown.length
  return html`<ul class="differences">
${shown.map((one) => html`<li>${differenceItem(one, names)}</li>\n`)}${more > 0 && html`<li>… and ${plural(more, 'more difference')}</li>`}</ul>`
}

/** All differences of an object, or words when its bytes alone differ. */
export function objectDifferences(diff: ObjectDiff): Markup {
  if (diff.differences.length === 0) return html`<p>${sameContent}</p>`
  return differenceList(diff.differences, diff)
}

function differenceItem(difference: Difference, names: Names): Markup {
  const path = html`<span class="path">${outside(formatPath(difference.path, names), 500)}</span>`
  switch (difference.kind) {
    case 'added':
      return html`${signed('added', '+')} ${path}${itemValue(difference, difference.after, 'ins')}`
    case 'removed':
      return html`${signed('removed', '−')} ${path}${itemValue(difference, difference.before, 'del')}`
    case 'moved':
      return html`${signed('moved', '↔')} ${path} ${describeMove(difference.before, difference.after)}`
    case 'reordered':
      return html`${signed('moved', '↔')} ${path} in another order`
    case 'changed':
      return html`${signed('changed', '✎')} ${path}: ${valueChange(difference.before, difference.after)}`
  }
}

function signed(word: string, sign: string): Markup {
  return html`<span class="state ${word}"><span aria-hidden="true">${sign}</span><span class="hidden">${word}</span></span>`
}

/** The value of an item. A panel has none: its label names it. */
function itemValue({ path }: Difference, value: JsonValue, element: 'ins' | 'del') {
  if (isPanel(path.at(-1))) return ''
  const text = outside(formatValue(value))
  return element === 'ins' ? html`: <ins>${text}</ins>` : html`: <del>${text}</del>`
}

function valueChange(before: JsonValue, after: JsonValue): Markup {
  const isText = typeof before === 'string' && typeof after === 'string'
  if (isText && (isLong(before) || isLong(after))) return textChange(before, after)
  return html`<del>${outside(formatValue(before))}</del> → <ins>${outside(formatValue(after))}</ins>`
}

function isLong(text: string): boolean {
  return text.length > MAX_LINE || text.includes('\n')
}

/** Two long texts by lines and words. */
function textChange(before: string, after: string): Markup {
  const { stretches, isCut } = compareTexts(before, after)
  const blocks = stretches.map((lines) => html`<div class="stretch">${lines.map(textLine)}</div>`)
  return html`<div class="text-diff" tabindex="0" role="group" aria-label="Changed text">${blocks}</div>${isCut && html`<p class="hint">The texts differ in more than is shown here.</p>`}`
}

const lineSigns = { same: ' ', removed: '−', added: '+' } as const

function textLine({ kind, pieces }: TextLine): Markup {
  const sign = html`<span class="line-sign">${lineSigns[kind]}</span>`
  // Beside what differs, less of an equal part is needed.
  const maxSame = kind === 'same' || pieces.length === 1 ? MAX_PIECE : MAX_SAME
  const parts = pieces.map((piece) => linePiece(piece, maxSame))
  if (kind === 'removed') return html`<del class="line">${sign}${parts}</del>`
  return kind === 'added'
    ? html`<ins class="line">${sign}${parts}</ins>`
    : html`<span class="line">${sign}${parts}</span>`
}

function linePiece({ text, differs }: Piece, maxSame: number): Markup {
  if (differs) return html`<mark>${cleanLine(text, MAX_PIECE)}</mark>`
  return html`<bdi>${cleanLine(text, maxSame)}</bdi>`
}
