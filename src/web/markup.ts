import { html } from 'hono/html'
import type { ChangeCounts } from '../archive/manifest.ts'
import { cleanLine } from '../clean-text.ts'
import { formatAge, formatTime, plural } from '../wording.ts'
import { isAddressable } from './addresses.ts'

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

/** How long ago a moment is. */
export function ageOf(time: Date, now: Date): Markup {
  return html`<span class="age">${formatAge(time, now)}</span>`
}

/** A moment in UTC and how long ago it is. */
export function timeWithAge(time: Date, now: Date): Markup {
  return html`${timeOf(time)} ${ageOf(time, now)}`
}

/** How a state looks, apart from its colour. */
const signs: Record<string, string> = {
  good: '●',
  stale: '▲',
  suspect: '◆',
  damaged: '✖',
  'from-future': '▶',
  unproven: '◇',
  missing: '○',
  changed: '●',
  first: '●',
  unchanged: '–',
  none: '',
  added: '+',
  removed: '−',
  running: '▶',
  behind: '▲',
}

/** The sign of a state, which readers of the screen pass over: the word is beside it. */
export function signOf(state: string): Markup {
  return html`<span class="sign" aria-hidden="true">${signs[state] ?? '·'}</span>`
}

/** A state as word, sign and colour. */
export function stateLabel(state: string, word: string = state.replace('-', ' the ')): Markup {
  return html`<span class="state ${state}">${signOf(state)} ${word}</span>`
}

/** Why something is in a state; nothing without reasons. At most `max` are listed. */
export function reasonList(
  reasons: readonly string[],
  max = Number.POSITIVE_INFINITY,
): Markup | undefined {
  if (reasons.length === 0) return undefined
  const more = reasons.length - max
  return html`<ul class="reasons">
${reasons.slice(0, max).map((reason) => html`<li>${outside(reason)}</li>`)}
${more > 0 && html`<li>${plural(more, 'more reason')}</li>`}</ul>`
}

/** Names the parts of the archive that cannot be read; nothing when all can be. */
export function unreadableNotice(problems: readonly string[]): Markup | undefined {
  if (problems.length === 0) return undefined
  return html`<div class="notice damaged"><p>Some of the archive cannot be read:</p><ul>${problems.map((one) => html`<li>${outside(one)}</li>`)}</ul></div>`
}

/** An option of a list, selected when it is the chosen one. */
export function option(value: string, label: string, chosen?: string): Markup {
  return html`<option value="${value}"${value === chosen && html` selected`}>${outsideLine(label)}</option>`
}

/** What people call an object: its title, or its id when it has none. */
export function nameOf({ title, id }: { title: string | undefined; id: string }): string {
  return title?.trim() ? title : id
}

/** The title of an object, with its id below. A link when `href` is given and an address can name the id. */
export function objectLink(
  { title, id }: { title: string | undefined; id: string },
  href: string | undefined,
): Markup {
  const label = outside(title?.trim() ? title : '(no title)')
  const isLink = href !== undefined && isAddressable(id)
  return html`${isLink ? html`<a href="${href}">${label}</a> ` : label}<span class="id">${outside(id)}</span>`
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
  caption: string | Markup,
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

/** The caption of a table whose heading says the same. Only readers of the screen need it. */
export function hiddenCaption(text: string): Markup {
  return html`<span class="hidden">${text}</span>`
}

/** A list of facts, without those that are undefined. */
export function facts(entries: readonly (readonly [string, Cell])[]): Markup {
  const known = entries.filter(([, value]) => value !== undefined && value !== '')
  return html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** `1 added, 3 changed`: the sum of the changes of several types; `none` when there are none. */
export function describeChanges(changes: readonly ChangeCounts[]): string {
  const words = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
    const sum = changes.reduce((total, counts) => total + counts[kind], 0)
    return sum > 0 ? [`${sum} ${kind}`] : []
  })
  return words.join(', ') || 'none'
}
