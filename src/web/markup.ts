import { html } from 'hono/html'
import type { ChangeCounts } from '../archive/manifest.ts'
import { cleanLine, replaceHidden } from '../clean-text.ts'
import { formatAge, formatTime } from '../wording.ts'

/** A piece of a page, safe to show. */
export type Markup = ReturnType<typeof html>

/** Characters of a name or title on a page. */
const MAX_TEXT = 300

/** Text from outside: without hidden characters, of limited length, and apart from what is around it. */
export function outside(text: string, maxLength = MAX_TEXT): Markup {
  return html`<bdi>${cleanLine(text, maxLength)}</bdi>`
}

/** Text from outside where markup is not possible: in an attribute, or in an option of a list. */
export function outsideLine(text: string): string {
  return cleanLine(text, MAX_TEXT)
}

/** A moment in UTC. */
export function timeOf(time: Date): Markup {
  return html`<time datetime="${time.toISOString()}">${formatTime(time)} UTC</time>`
}

/** A moment in UTC and how long ago it is. */
export function timeWithAge(time: Date, now: Date): Markup {
  return html`${timeOf(time)} <span class="age">${formatAge(time, now)}</span>`
}

/** How a state looks, besides its colour. */
const signs: Record<string, string> = {
  good: '●',
  stale: '▲',
  suspect: '◆',
  damaged: '✖',
  'from-future': '▶',
  missing: '○',
  changed: '●',
  first: '●',
  unchanged: '–',
  none: '',
  added: '+',
  removed: '−',
}

/** The sign of a state, which readers of the screen pass over: the word is beside it. */
export function signOf(state: string): Markup {
  return html`<span class="sign" aria-hidden="true">${signs[state] ?? '·'}</span>`
}

/** A state as word, sign and colour. */
export function stateLabel(state: string, word: string = state.replace('-', ' the ')): Markup {
  return html`<span class="state ${state}">${signOf(state)} ${word}</span>`
}

/** A column of a table. */
export interface Column {
  readonly name: string
  /** The header, where it is more than the name, such as a link that sorts. */
  readonly header?: Markup
  readonly number?: boolean
  /** How the table is sorted by it. */
  readonly sorted?: 'ascending' | 'descending' | undefined
}

type Cell = Markup | string | number | undefined

/**
 * A table whose first column names the row. On a narrow screen each row becomes a block, so the roles
 * are given as well.
 */
export function dataTable(
  caption: string,
  columns: readonly Column[],
  rows: readonly Cell[][],
): Markup {
  const heads = columns.map(({ name, header, number, sorted }) => {
    const sort = sorted && html` aria-sort="${sorted}"`
    return html`<th role="columnheader" scope="col" class="${number ? 'number' : ''}"${sort}>${header ?? name}</th>`
  })
  const cell = (value: Cell, place: number) => {
    const { name = '', number } = columns[place] ?? {}
    const kind = `${number ? 'number' : ''}${value === undefined || value === '' ? ' empty' : ''}`
    if (place === 0) return html`<th role="rowheader" scope="row">${value}</th>`
    return html`<td role="cell" data-label="${name}" class="${kind}">${value}</td>`
  }
  return html`<table role="table" class="data">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup">
${rows.map((cells) => html`<tr role="row">${cells.map(cell)}</tr>\n`)}</tbody>
</table>`
}

/** A list of facts, without those that are undefined. */
export function facts(entries: readonly (readonly [string, Cell])[]): Markup {
  const known = entries.filter(([, value]) => value !== undefined && value !== '')
  return html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** An address on this server with the parameters that are given. */
export function address(
  path: string,
  parameters: Record<string, string | number | undefined> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** An argument whose text is from outside. */
interface GivenArgument {
  readonly given: string
}

/**
 * A command line as somebody would type it, with its words quoted for a shell. Given arguments that
 * begin with `-` come last, after `--`, so that they are no options. A text that no shell can pass on
 * leads to a comment in place of the command.
 */
export function commandLine(...words: readonly (string | number | GivenArgument)[]): string {
  const isLast = (word: (typeof words)[number]) =>
    typeof word === 'object' && word.given.startsWith('-')
  const last = words.filter(isLast)
  const ordered = [
    ...words.filter((word) => !isLast(word)),
    ...(last.length > 0 ? ['--', ...last] : []),
  ].map((word) => (typeof word === 'object' ? word.given : String(word)))
  if (ordered.some((word) => !word.isWellFormed() || word.includes('\0'))) {
    return '# No command: a shell cannot pass on the characters of this id or text'
  }
  return ['dashkeep', ...ordered.map(quoteWord)].join(' ')
}

/** Quotes a word for a shell. Hidden characters become escapes, which bash, zsh and ksh understand. */
function quoteWord(word: string): string {
  if (/^[\w./:-]+$/.test(word)) return word
  if (replaceHidden(word, () => '') === word) return `'${word.replaceAll("'", `'\\''`)}'`
  const escaped = replaceHidden(word.replaceAll(/[\\']/g, '\\$&'), (character) => {
    return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
  })
  return `$'${escaped}'`
}

/** `1 added, 3 changed`: the sum of the changes of several types; `none` when there are none. */
export function describeChanges(changes: readonly ChangeCounts[]): string {
  const words = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
    const sum = changes.reduce((total, counts) => total + counts[kind], 0)
    return sum > 0 ? [`${sum} ${kind}`] : []
  })
  return words.join(', ') || 'none'
}
