import { html } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { type Markup, outside, outsideLine } from '../markup.ts'
import type { BasketObject } from './baskets.ts'

/** What pages show of restoring to one reader. */
export interface RestoreControls {
  /** Stands in every form. A form without it is refused. */
  readonly formToken: string
  /** Number of objects in the reader's basket. */
  readonly inBasket: number
  /** Why objects of an account cannot be restored; undefined when they can. */
  refusalOf(account: Manifest['account']): string | undefined
}

/** The fields of a form that the reader does not see. */
export function hiddenFields(
  { formToken }: RestoreControls,
  fields: Readonly<Record<string, string | number | readonly string[]>> = {},
): Markup {
  const all = Object.entries({ 'form-token': formToken, ...fields })
  return html`${all.flatMap(([name, values]) =>
    [values].flat().map((value) => html`<input type="hidden" name="${name}" value="${value}">`),
  )}`
}

/**
 * An object as the value of a field. Encoded, because browsers change line breaks in fields.
 */
export function fieldOf({ accountId, snapshot, id }: BasketObject): string {
  return new URLSearchParams({ account: String(accountId), snapshot, id }).toString()
}

/**
 * A button that puts objects into the basket, or the reason why they cannot be restored. Undefined
 * when the pages are read only.
 */
export function basketButton(
  restore: RestoreControls | undefined,
  account: Manifest['account'],
  objects: readonly BasketObject[],
  label = 'Put into the basket',
): Markup | undefined {
  if (restore === undefined) return undefined
  const refusal = restore.refusalOf(account)
  if (refusal !== undefined) return refusalNote(refusal)
  return html`<form method="post" action="/basket/add" class="basket-add">${hiddenFields(restore, { object: objects.map(fieldOf) })}<button>${label}</button></form>`
}

/** The id of the form whose checkboxes are in a table. */
const CHOICE = 'choice'

/** A checkbox that chooses an object for the form of `choiceForm`. */
export function choiceBox(object: BasketObject, title: string): Markup {
  return html`<input type="checkbox" class="choose" form="${CHOICE}" name="object" value="${fieldOf(object)}" aria-label="Choose ${outsideLine(title)}"> `
}

/** The form of the checkboxes in a table; undefined where nothing can be chosen. */
export function choiceForm(
  restore: RestoreControls,
  { action, label }: { action: string; label: string },
): Markup {
  return html`<form method="post" action="${action}" id="${CHOICE}" class="basket-add">${hiddenFields(restore)}<button>${label}</button></form>`
}

/** Says why objects cannot be restored. */
export function refusalNote(refusal: string): Markup {
  return html`<p class="hint">These objects cannot be restored here: ${outside(refusal, 1000)}.</p>`
}
