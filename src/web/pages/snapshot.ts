import { html } from 'hono/html'
import type { SnapshotFolder } from '../../archive/archive.ts'
import { countObjects, type Manifest } from '../../archive/manifest.ts'
import { formatBytes } from '../../wording.ts'
import { address, snapshotPath } from '../addresses.ts'
import { dayStateOf } from '../calendar.ts'
import { commandLine } from '../command-line.ts'
import { hasService, serviceReference } from '../compare/sides.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import {
  ageOf,
  dataTable,
  describeChanges,
  facts,
  hiddenCaption,
  type Markup,
  option,
  outside,
  reasonList,
  stateLabel,
  timeOf,
  unreadableNotice,
} from '../markup.ts'
import { type FoundSnapshot, MAX_SEARCH } from '../requests.ts'
import { choiceForm, type RestoreControls, refusalNote } from '../restore/controls.ts'
import { objectTable } from './object-table.ts'
import { readRows, type SnapshotQuery } from './snapshot-rows.ts'

/** A snapshot: counts by type, and its objects in a table. */
export async function snapshotPage(
  library: Library,
  { view, line }: FoundSnapshot,
  {
    query,
    signal,
    restore,
  }: { query: SnapshotQuery; signal: AbortSignal; restore?: RestoreControls | undefined },
): Promise<Page> {
  const { manifest, folder } = line
  const previous = view.folders[view.folders.indexOf(folder) - 1]
  const found = await readRows(library, manifest, { query, previous, signal })
  const path = snapshotPath(folder)
  const canChoose = restore !== undefined && restore.refusalOf(manifest.account) === undefined
  return {
    title: `Snapshot ${folder.snapshot}`,
    heading: html`Snapshot of ${timeOf(folder.takenAt)}`,
    crumbs: [accountCrumb(view)],
    body: html`${manifestFacts(view, line, library.now())}
${neighbours(view, folder)}
${comparisons(library, view, folder)}
<h2>By type</h2>
${typeTable(manifest)}
<h2>Objects</h2>
${searchForm(path, manifest, query, previous)}
${query.q !== '' && found.places === undefined && html`<p class="notice">The snapshot is large: only titles and ids were searched. <a href="${address('/find', { q: query.q, in: `${view.accountId}/${folder.snapshot}` })}">Search all text</a></p>`}
${unreadableNotice(found.places?.problems ?? [])}
<div class="choosing">
${objectTable(path, found, { view, query, canChoose })}
${restore && restoreBar(restore, path, line)}
</div>`,
    command: commandOf(folder, query, previous),
  }
}

/** The command that shows the same objects on a terminal. */
function commandOf(
  { accountId, snapshot }: SnapshotFolder,
  { q, changed }: SnapshotQuery,
  previous: SnapshotFolder | undefined,
): string {
  if (changed && previous) {
    return commandLine('diff', previous.snapshot, snapshot, '--account', accountId)
  }
  if (q === '') return commandLine('ls', snapshot, '--account', accountId)
  return commandLine('find', { given: q }, '--snapshot', snapshot, '--account', accountId)
}

function manifestFacts(view: AccountView, line: FoundSnapshot['line'], now: Date): Markup {
  const { manifest, folder, defect } = line
  const { snapshot } = folder
  const link = (name: string) =>
    html`<a href="${snapshotPath({ ...folder, snapshot: name })}">${name}</a>`
  const reasons = [...(defect === undefined ? [] : [defect]), ...(manifest.suspect?.reasons ?? [])]
  return facts([
    ['Name', snapshot],
    ['Taken', ageOf(folder.takenAt, now)],
    ['State', html`${stateLabel(dayStateOf(line))}${reasonList(reasons)}`],
    ['Objects', countObjects(manifest)],
    ['Service', outside(manifest.service)],
    ['Unchanged since', manifest.sameAs && html`${link(manifest.sameAs)}, which holds the files`],
    ['Pinned', view.pins.has(snapshot) ? 'yes' : undefined],
    ['Made by', html`dashkeep ${outside(manifest.dashkeepVersion)}`],
  ])
}

/** The buttons that restore marked objects, or all. They stay in view beside a long table. */
function restoreBar(
  restore: RestoreControls,
  path: string,
  { manifest }: FoundSnapshot['line'],
): Markup {
  const refusal = restore.refusalOf(manifest.account)
  if (refusal !== undefined) return refusalNote(refusal)
  return html`<section class="choice-bar" aria-label="Restore">${choiceForm(restore, { action: '/basket/add', label: 'Put the marked objects into the basket' })}
<a href="${path}/restore?all=1">Plan the restore of all objects</a></section>`
}

function neighbours({ folders }: AccountView, folder: SnapshotFolder): Markup {
  const place = folders.indexOf(folder)
  const link = (other: SnapshotFolder | undefined, rel: string, label: string) =>
    other && html`<a rel="${rel}" href="${snapshotPath(other)}">${label}</a> `
  return html`<nav aria-label="Other snapshots" class="pages">${link(folders[place - 1], 'prev', '← Earlier')}${link(folders[place + 1], 'next', 'Later →')}</nav>`
}

/** Links to comparisons of the snapshot. */
function comparisons(library: Library, view: AccountView, folder: SnapshotFolder): Markup {
  const reference = (one: SnapshotFolder) => `${view.accountId}/${one.snapshot}`
  const previous = view.folders[view.folders.indexOf(folder) - 1]
  const from = reference(folder)
  const link = (parameters: Record<string, string>, label: string) =>
    html`<li><a href="${address('/compare', parameters)}">${label}</a></li>`
  return html`<ul class="actions">
${previous && link({ from: reference(previous), to: from }, 'Compare with the previous one')}
${hasService(library, view) && link({ from, to: serviceReference(view) }, 'Compare with the service now')}
${link({ from }, 'Compare with another')}
</ul>`
}

function typeTable({ exports, changes }: Manifest): Markup {
  const rows = exports.map(({ type, objects, kibanaVersion, file }) => {
    const change = changes?.[type]
    return [
      type,
      objects,
      change && describeChanges([change]),
      outside(kibanaVersion),
      formatBytes(file.content.bytes),
      formatBytes(file.stored.bytes),
    ]
  })
  const columns = [
    { name: 'Type' },
    { name: 'Objects', number: true },
    { name: 'Changes' },
    { name: 'Kibana' },
    { name: 'Size', number: true },
    { name: 'Stored', number: true },
  ]
  return dataTable(hiddenCaption('Objects by type'), columns, rows)
}

function searchForm(
  path: string,
  { exports }: Manifest,
  { q, type, sort, changed }: SnapshotQuery,
  previous: SnapshotFolder | undefined,
): Markup {
  return html`<form role="search" method="get" action="${path}" class="search">
<label>Title, id or text <input type="search" name="q" data-filter value="${q}" maxlength="${MAX_SEARCH}" placeholder="text, or a pattern with * and ?"></label>
<label>Type <select name="type">${option('', 'all')}${exports.map((one) => option(one.type, one.type, type))}</select></label>
${previous && html`<label class="check"><input type="checkbox" name="changed" value="1"${changed && html` checked`}> Only what changed since the previous snapshot</label>`}
${sort !== '' && html`<input type="hidden" name="sort" value="${sort}">`}
<button>Search</button>
</form>`
}
