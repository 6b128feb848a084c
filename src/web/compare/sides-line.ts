import { html } from 'hono/html'
import { formatAge } from '../../wording.ts'
import { address, snapshotPath } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import type { Library } from '../library.ts'
import { type Markup, outside, timeOf } from '../markup.ts'
import { placeOf, type Side } from './sides.ts'

/** Both sides of a comparison. */
export interface Sides {
  readonly before: Side
  readonly after: Side
}

/** The address of a comparison of both sides, with further parameters. */
export function compareAddress(
  { before, after }: Sides,
  parameters: Record<string, string | number | undefined> = {},
): string {
  return address('/compare', { from: before.reference, to: after.reference, ...parameters })
}

/** The command that compares both sides. */
export function compareCommand({ before, after }: Sides, id?: string): string {
  const { accountId } = before.view
  const isOther = after.view.accountId !== accountId
  return commandLine(
    'diff',
    before.manifest.snapshot,
    ...(after.exportedAt === undefined ? [after.manifest.snapshot] : []),
    ...(id === undefined ? [] : ['--object', id]),
    '--account',
    accountId,
    ...(isOther ? ['--other-account', after.view.accountId] : []),
  )
}

/** Says what is compared, and how old the export of the service is. */
export function sidesLine(library: Library, sides: Sides, id?: string): Markup {
  const { before, after } = sides
  const { exportedAt } = after
  const fresh =
    exportedAt &&
    html`<p class="notice">The service was asked ${formatAge(exportedAt, library.now())}, at ${timeOf(exportedAt)}. <a href="${compareAddress(sides, { id, newer: exportedAt.toISOString() })}">Ask again</a></p>`
  return html`<p>From ${sideName(before, sides)} to ${sideName(after, sides)}. ${exportedAt === undefined && html`<a href="${swapped(sides, id)}">Swap</a>`}</p>
${fresh}`
}

function swapped({ before, after }: Sides, id: string | undefined): string {
  return compareAddress({ before: after, after: before }, { id })
}

/** A side with a link to its snapshot. Two accounts are named. */
function sideName(side: Side, { before, after }: Sides): Markup {
  const { view, manifest, exportedAt } = side
  const isOther = before.view.accountId !== after.view.accountId
  const owner = isOther && html`${outside(view.name)}, `
  if (exportedAt !== undefined) return html`${owner}<strong>the service now</strong>`
  const time = timeOf(new Date(manifest.takenAt))
  return html`${owner}<a href="${snapshotPath(placeOf(side))}">${time}</a>`
}

/** A side in words, for the caption of a drawing. */
export function sideLabel({ view, manifest, exportedAt }: Side, isNamed: boolean): string {
  const when =
    exportedAt === undefined
      ? `${manifest.takenAt.slice(0, 19).replace('T', ' ')} UTC`
      : 'the service now'
  return isNamed ? `${view.name}, ${when}` : when
}
