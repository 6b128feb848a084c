import { html } from 'hono/html'
import { countObjects, countStoredBytes, type Manifest } from '../../archive/manifest.ts'
import { formatBytes, plural } from '../../wording.ts'
import { accountPath, address, snapshotPath } from '../addresses.ts'
import { calendar, dayStateOf } from '../calendar.ts'
import { commandLine } from '../command-line.ts'
import { sidesForm } from '../compare/choose.ts'
import type { Page } from '../layout.ts'
import type { AccountView, Library, SnapshotLine } from '../library.ts'
import {
  dataTable,
  describeChanges,
  facts,
  type Markup,
  outside,
  reasonList,
  stateLabel,
  timeOf,
  timeWithAge,
} from '../markup.ts'
import { pageLinks, pageOf } from '../paging.ts'
import { sparkline } from '../sparkline.ts'
import { stateOfAccount } from './account-state.ts'
import { accountCopies } from './copies.ts'
import { proofFacts } from './proofs.ts'

/** Snapshots in one table. */
const PAGE_SIZE = 400

/** An account: the calendar of a year, and its snapshots in a table. */
export async function accountPage(
  library: Library,
  view: AccountView,
  {
    year: wanted,
    page,
    signal,
  }: { year: string | undefined; page: string | undefined; signal: AbortSignal },
): Promise<Page> {
  const years = [...new Set(view.folders.map(({ takenAt }) => takenAt.getUTCFullYear()))]
  const newest = (view.past.at(-1) ?? view.folders.at(-1))?.takenAt.getUTCFullYear() as number
  const year = years.find((one) => String(one) === wanted) ?? newest
  const folders = view.folders.filter(({ takenAt }) => takenAt.getUTCFullYear() === year)
  const lines = await library.snapshots(view, folders, signal)
  // Shown when it is known. When it cannot be read, the first page says why.
  const known = await library.overview.accounts(0).catch(() => undefined)
  const line = known?.lines.find(({ accountId }) => accountId === view.accountId)
  const now = library.now()
  const path = accountPath(view.accountId)
  const shown = pageOf(lines.toReversed(), page, PAGE_SIZE)
  const counts = lines.flatMap(({ manifest }) => (manifest ? countObjects(manifest) : []))
  return {
    title: view.name,
    heading: outside(view.name),
    crumbs: [],
    body: html`${facts([
      ['State', line && stateOfAccount(line, now)],
      ['Account id', view.accountId],
      ['Objects', view.newest && countObjects(view.newest)],
      ['Snapshots', view.folders.length],
      ['Oldest', view.folders[0] && timeOf(view.folders[0].takenAt)],
      [
        'Newest',
        view.past.at(-1) && timeWithAge((view.past.at(-1) as SnapshotLine['folder']).takenAt, now),
      ],
      ['Pinned', view.pins.size || undefined],
      ...proofFacts(view.proofs, now),
      [
        'Listed',
        html`${timeWithAge(view.listedAt, now)} · <a href="${path}/refresh" rel="nofollow">List again</a>`,
      ],
      [`Objects in ${year}`, sparkline(counts.slice(-200))],
    ])}
<h2>Calendar of ${year}</h2>
${yearLinks(path, years, year)}
${calendar(year, lines)}
${accountCopies(library.copies(), view.accountId, now)}
${findForm(view)}
${compareForm(library, view)}
<h2>Snapshots</h2>
${snapshotTable(view, shown.items, { year, now })}
${pageLinks(shown, (number) => address(path, { year, page: number }))}`,
    command: commandLine('list', '--account', view.accountId),
  }
}

function findForm({ accountId }: AccountView): Markup {
  return html`<h2>Find in all snapshots</h2>
<form role="search" method="get" action="/find" class="search">
<label>Text <input type="search" name="q" maxlength="200" required placeholder="also in deleted objects"></label>
<input type="hidden" name="in" value="${accountId}">
<button>Find</button>
</form>`
}

function compareForm(library: Library, view: AccountView): Markup {
  const [newest, previous] = view.past.toReversed()
  const reference = (folder = newest) => folder && `${view.accountId}/${folder.snapshot}`
  return html`<h2>Compare two snapshots</h2>
${sidesForm(library, {
  from: { view, chosen: reference(previous) },
  to: { view, chosen: reference() },
})}`
}

function yearLinks(path: string, years: readonly number[], current: number): Markup | undefined {
  if (years.length < 2) return undefined
  const links = years.map((year) =>
    year === current
      ? html`<a href="${address(path, { year })}" aria-current="page">${year}</a> `
      : html`<a href="${address(path, { year })}">${year}</a> `,
  )
  return html`<nav aria-label="Years" class="pages">${links}</nav>`
}

function snapshotTable(
  view: AccountView,
  lines: readonly SnapshotLine[],
  { year, now }: { year: number; now: Date },
): Markup {
  const future = new Set(view.folders.filter((one) => !view.past.includes(one)))
  const rows = lines.map((line) => {
    const { folder, manifest, defect } = line
    const reasons = [
      ...(defect === undefined ? [] : [defect]),
      ...(manifest?.suspect?.reasons ?? []),
      ...(future.has(folder) ? ['it is from the future and is ignored'] : []),
    ]
    return [
      html`<a href="${snapshotPath(folder)}">${folder.snapshot}</a>${view.pins.has(folder.snapshot) && html` <span class="pin">pinned</span>`}`,
      timeWithAge(folder.takenAt, now),
      html`${stateLabel(dayStateOf(line))}${reasonList(reasons)}`,
      manifest && countObjects(manifest),
      manifest && changesOf(manifest),
      manifest && (countStoredBytes(manifest) === 0 ? '' : formatBytes(countStoredBytes(manifest))),
    ]
  })
  const columns = [
    { name: 'Snapshot' },
    { name: 'Taken' },
    { name: 'State' },
    { name: 'Objects', number: true },
    { name: 'Changes' },
    { name: 'New bytes', number: true },
  ]
  return dataTable(`${plural(lines.length, 'snapshot')} of ${year}, newest first`, columns, rows)
}

/** The numbers of changes against the previous snapshot, in words. */
function changesOf({ changes, sameAs, previous }: Manifest): string {
  if (sameAs !== undefined) return 'none'
  if (changes === undefined) return previous === undefined ? 'first snapshot' : ''
  return describeChanges(Object.values(changes))
}
