import { html } from 'hono/html'
import type { NamedObject } from '../../archive/compare.ts'
import { diffType, sharedTypes, type TypeDiff } from '../../archive/diff.ts'
import { plural } from '../../wording.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { Library } from '../library.ts'
import {
  dataTable,
  hiddenCaption,
  type Markup,
  nameOf,
  objectLink,
  outside,
  stateLabel,
} from '../markup.ts'
import { pageLinks, pageOf } from '../paging.ts'
import { choiceBox, choiceForm, type RestoreControls, refusalNote } from '../restore/controls.ts'
import { sidesForm } from './choose.ts'
import { placeOf } from './sides.ts'
import { compareAddress, compareCommand, type Sides, sidesLine } from './sides-line.ts'

/** The type that people look at first. */
const dashboard = 'dashboard'

/** Objects in one table. */
const PAGE_SIZE = 500

/** What the address of the page asks for. */
interface ComparisonQuery {
  readonly type: string
  readonly page: string
}

/** How an object differs. */
interface Row extends NamedObject {
  readonly type: string
  readonly change: 'added' | 'removed' | 'changed'
}

/** Two snapshots: the numbers by type, and the objects that differ. */
export async function snapshotsPage(
  library: Library,
  sides: Sides,
  {
    query,
    signal,
    restore,
  }: { query: ComparisonQuery; signal: AbortSignal; restore?: RestoreControls | undefined },
): Promise<Page> {
  const { before, after } = sides
  const types = sharedTypes(before.manifest, after.manifest)
  const diffs: TypeDiff[] = []
  for (const type of types.shared) {
    diffs.push(await diffType(before, after, type, { ...library.read, signal }))
  }
  const rows = diffs
    .filter(({ type }) => query.type === '' || query.type === type)
    .toSorted((one, other) => Number(other.type === dashboard) - Number(one.type === dashboard))
    .flatMap(rowsOf)
  return {
    title: `Changes of ${before.view.name}`,
    heading: headingOf(sides),
    crumbs: [accountCrumb(before.view)],
    body: html`${sidesLine(library, sides)}
<h2>By type</h2>
${typeTable(sides, diffs)}
${oneSided(types)}
<h2>Objects that differ</h2>
<div class="choosing">
${rowTable(sides, rows, { ...query, restore })}
${restore && rows.length > 0 && restoreBar(sides, rows, restore)}
</div>
<h2>Compare others</h2>
${sidesForm(library, {
  from: { view: before.view, chosen: before.reference },
  to: { view: after.view, chosen: after.reference },
})}
<p><a href="/compare?from=${encodeURIComponent(before.reference)}">With another account</a></p>`,
    command: compareCommand(sides),
  }
}

function headingOf({ before, after }: Sides): Markup {
  const isSame = before.view.accountId === after.view.accountId
  if (isSame) return html`Changes of ${outside(before.view.name)}`
  return html`Changes from ${outside(before.view.name)} to ${outside(after.view.name)}`
}

function rowsOf({ type, added, removed, changed }: TypeDiff): Row[] {
  const rows = (change: Row['change'], objects: readonly NamedObject[]) =>
    objects.map(({ id, title }): Row => ({ id, title, type, change }))
  return [...rows('changed', changed), ...rows('added', added), ...rows('removed', removed)]
}

function typeTable(sides: Sides, diffs: readonly TypeDiff[]): Markup {
  const rows = diffs.map(({ type, added, removed, changed, touched, unchanged }) => [
    html`<a href="${compareAddress(sides, { type })}">${outside(type)}</a>`,
    added.length,
    removed.length,
    changed.length,
    touched.length,
    unchanged,
  ])
  const numbers = ['Added', 'Removed', 'Changed', 'Only touched', 'Unchanged']
  const columns = [{ name: 'Type' }, ...numbers.map((name) => ({ name, number: true }))]
  const table = dataTable(hiddenCaption('Objects by type'), columns, rows)
  const isTouched = diffs.some(({ touched }) => touched.length > 0)
  return html`${table}${isTouched && html`<p class="hint">Only touched: saved again without a change.</p>`}`
}

function oneSided({ onlyBefore, onlyAfter }: ReturnType<typeof sharedTypes>): Markup | false {
  const sentence = (types: readonly string[], where: string) =>
    types.length > 0 &&
    html`<p class="notice">Only the ${where} side holds ${outside(types.join(', '))}. It is not compared.</p>`
  return html`${sentence(onlyBefore, 'first')}${sentence(onlyAfter, 'second')}`
}

/** The button for marked objects, and why those of a side cannot be restored. */
function restoreBar(sides: Sides, rows: readonly Row[], restore: RestoreControls): Markup {
  const { before, after } = sides
  const canChoose = rows.some((row) => boxOf(sides, row, restore) !== undefined)
  const refusals = new Set(
    [before, after].map(({ manifest }) => restore.refusalOf(manifest.account)),
  )
  return html`${[...refusals].map((refusal) => refusal !== undefined && refusalNote(refusal))}
${
  canChoose &&
  html`<section class="choice-bar" aria-label="Restore">${choiceForm(restore, { action: '/basket/add', label: 'Put the marked objects into the basket' })}
<span class="hint">Takes the version of the first side. Takes that of the second side if the first does not have the object.</span></section>`
}`
}

/** A checkbox for the version that would be restored; undefined when there is none. */
function boxOf(
  { before, after }: Sides,
  { id, title, change }: Row,
  restore: RestoreControls | undefined,
): Markup | undefined {
  const side = change === 'added' ? after : before
  if (restore === undefined || id === '' || side.exportedAt !== undefined) return undefined
  if (restore.refusalOf(side.manifest.account) !== undefined) return undefined
  return choiceBox({ ...placeOf(side), id }, nameOf({ title, id }))
}

function rowTable(
  sides: Sides,
  rows: readonly Row[],
  { type, page, restore }: ComparisonQuery & { restore: RestoreControls | undefined },
): Markup {
  if (rows.length === 0) return html`<p class="notice">Nothing differs.</p>`
  const shown = pageOf(rows, page, PAGE_SIZE)
  const cells = shown.items.map((row) => [
    html`${boxOf(sides, row, restore)}${objectLink(row, compareAddress(sides, { id: row.id }))}`,
    row.type,
    stateLabel(row.change),
  ])
  const columns = [{ name: 'Title' }, { name: 'Type' }, { name: 'Change' }]
  return html`${type !== '' && html`<p><a href="${compareAddress(sides)}">All types</a></p>`}
${dataTable(plural(rows.length, 'object'), columns, cells)}
${pageLinks(shown, (number) => compareAddress(sides, { type, page: number }))}`
}
