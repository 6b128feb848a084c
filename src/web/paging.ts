import { html } from 'hono/html'
import type { Markup } from './markup.ts'

/** A part of a long list. */
interface Part<Item> {
  readonly items: readonly Item[]
  /** Its number, from 1 on, and how many there are. */
  readonly number: number
  readonly count: number
}

/** The part of a list that an address asks for; the nearest one when there is no such part. Pure. */
export function pageOf<Item>(
  items: readonly Item[],
  wanted: string | undefined,
  size: number,
): Part<Item> {
  const count = Math.max(1, Math.ceil(items.length / size))
  const asked = /^\d{1,9}$/.test(wanted ?? '') ? Number(wanted) : 1
  const number = Math.min(Math.max(asked, 1), count)
  return { items: items.slice((number - 1) * size, number * size), number, count }
}

/** Links to the parts before and after; nothing when there is one part only. */
export function pageLinks(
  { number, count }: Part<unknown>,
  hrefOf: (number: number) => string,
): Markup | undefined {
  if (count === 1) return undefined
  return html`<nav aria-label="Parts of the table" class="pages">
${number > 1 && html`<a rel="prev" href="${hrefOf(number - 1)}">← Previous</a>`}
<span>Part ${number} of ${count}</span>
${number < count && html`<a rel="next" href="${hrefOf(number + 1)}">Next →</a>`}
</nav>`
}
