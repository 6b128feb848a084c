import { html } from 'hono/html'
import { formatAge } from '../../wording.ts'
import { address } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { Library } from '../library.ts'
import { outside } from '../markup.ts'
import { type App, parameter, show, signalOf } from '../requests.ts'
import { choosePage } from './choose.ts'
import { objectComparison } from './object-page.ts'
import { findSide, type Side, type Waiting } from './sides.ts'
import { snapshotsPage } from './snapshots-page.ts'

/** Seconds until a page asks again whether the service has answered. */
const REFRESH_SECONDS = 3

/** Adds the pages that compare snapshots, accounts and the service. */
export function addComparePages(app: App, library: Library): void {
  app.get('/compare', async (context) => {
    const signal = signalOf(library, context)
    const [from, to] = [parameter(context, 'from'), parameter(context, 'to')]
    const id = parameter(context, 'id')
    const [type, page] = [parameter(context, 'type'), parameter(context, 'page')]
    const newerThan = readTime(parameter(context, 'newer'))
    const [before, after] = await Promise.all(
      [from, to].map((one) => (one === '' ? null : findSide(library, one, { newerThan, signal }))),
    )
    if (before === undefined || after === undefined) return context.notFound()
    const waiting = [before, after].find(isWaiting)
    if (waiting !== undefined) return show(context, waitingPage(library, waiting))
    const sides = [before, after].filter((side) => side !== null && !isWaiting(side)) as Side[]
    const [first, second] = sides
    if (first === undefined || second === undefined) {
      return show(context, await choosePage(library, first))
    }
    if (first.exportedAt && second.exportedAt) return context.notFound()
    const ordered = inOrder(first, second)
    const { before: older, after: newer } = ordered
    if (older.reference !== from || newer.reference !== to) {
      const query = { from: older.reference, to: newer.reference, id, type, page }
      return context.redirect(address('/compare', query), 303)
    }
    const restore = context.get('restore')
    const found =
      id === ''
        ? await snapshotsPage(library, ordered, { query: { type, page }, signal, restore })
        : await objectComparison(library, ordered, { id, signal, restore })
    return found === undefined ? context.notFound() : show(context, found)
  })
}

function isWaiting(side: Side | Waiting | null | undefined): side is Waiting {
  return side !== null && side !== undefined && 'since' in side
}

/** The service comes second, as on the command line. */
function inOrder(first: Side, second: Side): { before: Side; after: Side } {
  return first.exportedAt === undefined
    ? { before: first, after: second }
    : { before: second, after: first }
}

function readTime(text: string): Date | undefined {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time
}

/** Says that the service has not answered yet, and asks again by itself. */
function waitingPage(library: Library, { view, since }: Waiting): Page {
  return {
    title: 'Waiting for the service',
    refreshSeconds: REFRESH_SECONDS,
    crumbs: [accountCrumb(view)],
    body: html`<p class="notice" data-poll="${REFRESH_SECONDS}">The objects of ${outside(view.name)} are being exported from the service. The export began ${formatAge(since, library.now())}.</p>
<p>This page asks again every ${REFRESH_SECONDS} seconds. You can leave it: the export continues. <a href="">Ask now</a></p>`,
    command: commandLine('diff', 'latest', '--account', view.accountId),
  }
}
