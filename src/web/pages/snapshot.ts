import { html } from 'hono/html'
import type { SnapshotFolder } from '../../archive/archive.ts'
import { readManifest } from '../../archive/archive.ts'
import { diffType, sharedTypes } from '../../archive/diff.ts'
import { type FoundObject, findObjects } from '../../archive/find.ts'
import type { ListedObject } from '../../archive/list-objects.ts'
import { countObjects, type Manifest } from '../../archive/manifest.ts'
import { exportsOf } from '../../archive/stored-export.ts'
import { createTextMatcher } from '../../objects/match-object.ts'
import { formatBytes, plural } from '../../wording.ts'
import { address, isAddressable, objectPath, snapshotPath } from '../addresses.ts'
import { dayStateOf } from '../calendar.ts'
import { commandLine } from '../command-line.ts'
import { hasService, serviceReference } from '../compare/sides.ts'
import { matchList } from '../find/page.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { AccountView, Library, SnapshotLine } from '../library.ts'
import {
  ageOf,
  type Column,
  dataTable,
  describeChanges,
  facts,
  hiddenCaption,
  type Markup,
  nameOf,
  objectLink,
  option,
  outside,
  reasonList,
  stateLabel,
  timeOf,
} from '../markup.ts'
import { pageLinks, pageOf } from '../paging.ts'
import { MAX_SEARCH } from '../requests.ts'
import { choiceBox, choiceForm, type RestoreControls, refusalNote } from '../restore/controls.ts'

/** Objects in one table. */
const PAGE_SIZE = 500

/** What the address of the page asks for. */
export interface SnapshotQuery {
  /** Text in title, id or nested text. */
  readonly q: string
  readonly type: string
  /** A column; `-` before it turns the order. */
  readonly sort: string
  readonly changed: boolean
  readonly page: string
}

/** A snapshot whose manifest can be read. */
type FoundLine = SnapshotLine & { readonly manifest: Manifest }

/** How an object differs from the previous snapshot. */
type Change = 'added' | 'changed' | 'removed'

interface Row extends ListedObject {
  readonly change: Change | undefined
  /** The snapshot that holds it. */
  readonly snapshot: string
}

/** A snapshot: counts by type, and its objects in a table. */
export async function snapshotPage(
  library: Library,
  { view, line }: { view: AccountView; line: FoundLine },
  {
    query,
    signal,
    restore,
  }: { query: SnapshotQuery; signal: AbortSignal; restore?: RestoreControls | undefined },
): Promise<Page> {
  const { manifest, folder } = line
  const previous = view.folders[view.folders.indexOf(folder) - 1]
  const rows = query.changed
    ? await readChanged(library, { manifest, previous, signal })
    : (await library.objects(manifest)).map((one) => ({
        ...one,
        change: undefined,
        snapshot: folder.snapshot,
      }))
  const fitting =
    query.q === '' ? undefined : await findNested(library, manifest, { text: query.q, signal })
  const found = filterRows(rows, query, fitting)
  const path = snapshotPath(folder)
  const canChoose = restore !== undefined && restore.refusalOf(manifest.account) === undefined
  const command =
    query.changed && previous
      ? commandLine('diff', previous.snapshot, folder.snapshot, '--account', view.accountId)
      : commandLine(
          ...(query.q === ''
            ? ['ls', folder.snapshot]
            : ['find', { given: query.q }, '--snapshot', folder.snapshot]),
          ...['--account', view.accountId],
        )
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
${query.q !== '' && fitting === undefined && html`<p class="notice">The snapshot is large: only titles and ids were searched. <a href="${address('/find', { q: query.q, in: `${view.accountId}/${folder.snapshot}` })}">Search all text</a></p>`}
<div class="choosing">
${objectTable(path, found, { view, query, fitting, canChoose })}
${restore && restoreBar(restore, path, line)}
</div>`,
    command,
  }
}

function manifestFacts(view: AccountView, line: FoundLine, now: Date): Markup {
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
function restoreBar(restore: RestoreControls, path: string, { manifest }: FoundLine): Markup {
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
${link({ from }, 'Compare with …')}
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

/** Reads what differs from the previous snapshot that the archive still has, with what is gone. */
async function readChanged(
  library: Library,
  {
    manifest,
    previous,
    signal,
  }: { manifest: Manifest; previous: SnapshotFolder | undefined; signal: AbortSignal },
): Promise<Row[]> {
  const { store, read } = library
  const { snapshot } = manifest
  const own = await library.objects(manifest)
  const all = (change: Change) => own.map((one): Row => ({ ...one, change, snapshot }))
  if (previous === undefined) return all('added')
  const before = (await readManifest(store, previous.accountId, previous.snapshot, { signal }))
    .manifest
  const { shared, onlyAfter } = sharedTypes(before, manifest)
  const changes = new Map<string, Change>()
  const gone = new Set<string>()
  for (const type of shared) {
    const sides = [
      { store, manifest: before },
      { store, manifest },
    ] as const
    const { added, changed, removed } = await diffType(...sides, type, { ...read, signal })
    for (const { id } of added) changes.set(`${type} ${id}`, 'added')
    for (const { id } of changed) changes.set(`${type} ${id}`, 'changed')
    for (const { id } of removed) gone.add(`${type} ${id}`)
  }
  const old = gone.size === 0 ? [] : await library.objects(before)
  const rows = own.flatMap((one): Row[] => {
    const change = onlyAfter.includes(one.type) ? 'added' : changes.get(`${one.type} ${one.id}`)
    return change === undefined ? [] : [{ ...one, change, snapshot }]
  })
  const removed = old.filter(({ type, id }) => gone.has(`${type} ${id}`))
  return [
    ...rows,
    ...removed.map((one): Row => ({ ...one, change: 'removed', snapshot: before.snapshot })),
  ]
}

/** What the columns sort by. */
const sortKeys: Record<string, (row: Row) => string | number> = {
  title: ({ title }) => (title ?? '').toLowerCase(),
  type: ({ type }) => type,
  size: ({ bytes }) => bytes,
  changed: ({ updatedAt }) => updatedAt ?? '',
}

/** Bytes of exports that are searched for a text while a table waits. */
const MAX_SEARCHED_BYTES = 64 * 1024 * 1024

/** Where objects contain a text, by id. */
type Fitting = ReadonlyMap<string, Pick<FoundObject, 'matches'>>

/** Searches the nested text of a snapshot; undefined when it is too large. */
async function findNested(
  { store, read }: Library,
  manifest: Manifest,
  { text, signal }: { text: string; signal: AbortSignal },
): Promise<Fitting | undefined> {
  const bytes = manifest.exports.reduce((sum, { file }) => sum + file.content.bytes, 0)
  if (bytes > MAX_SEARCHED_BYTES) return undefined
  const { objects } = await findObjects(exportsOf(store, manifest), text, { ...read, signal })
  return new Map(objects.map((one) => [one.id, one]))
}

function filterRows(
  rows: readonly Row[],
  { q, type, sort }: SnapshotQuery,
  fitting: Fitting | undefined,
): Row[] {
  const matches = createTextMatcher(q, { whole: false })
  const found = rows.filter(
    (row) =>
      (type === '' || row.type === type) &&
      (q === '' || matches(row.title ?? '') || matches(row.id) || fitting?.has(row.id)),
  )
  const key = Object.hasOwn(sortKeys, sort.replace(/^-/, ''))
    ? sortKeys[sort.replace(/^-/, '')]
    : undefined
  if (key === undefined) return found
  const turn = sort.startsWith('-') ? -1 : 1
  return found.toSorted((a, b) => turn * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}

function objectTable(
  path: string,
  rows: readonly Row[],
  {
    view,
    query,
    fitting,
    canChoose,
  }: {
    view: AccountView
    query: SnapshotQuery
    fitting?: Fitting | undefined
    canChoose: boolean
  },
): Markup {
  const { q, type, sort, changed } = query
  const asked = { q, type, changed: changed ? 1 : undefined }
  const shown = pageOf(rows, query.page, PAGE_SIZE)
  const sortable = (key: string, name: string, number = false): Column => {
    const sorted = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : undefined
    const href = address(path, { ...asked, sort: sorted === 'ascending' ? `-${key}` : key })
    const arrow =
      sorted && html` <span aria-hidden="true">${sorted === 'ascending' ? '▲' : '▼'}</span>`
    return { name, number, sorted, header: html`<a href="${href}">${name}${arrow}</a>` }
  }
  // Objects of older versions have no date.
  const isDated = rows.some(({ updatedAt }) => updatedAt !== null)
  const columns = [
    sortable('title', 'Title'),
    sortable('type', 'Type'),
    ...(changed ? [{ name: 'Change' }] : []),
    sortable('size', 'Size', true),
    ...(isDated ? [sortable('changed', 'Last changed')] : []),
  ]
  const whereOf = ({ id, title }: Row) => {
    const found = fitting?.get(id)
    return found && !createTextMatcher(q, { whole: false })(title ?? '') && matchList(found, q)
  }
  const cells = shown.items.map((row) => [
    html`${canChoose && isAddressable(row.id) && choiceBox({ ...view, ...row }, nameOf(row))}${objectLink(row, objectPath({ ...view, ...row }, row.id))}${whereOf(row)}`,
    row.type,
    ...(changed ? [row.change && stateLabel(row.change)] : []),
    formatBytes(row.bytes),
    ...(isDated ? [row.updatedAt === null ? '' : timeOf(new Date(row.updatedAt))] : []),
  ])
  const none =
    changed && q === '' && type === ''
      ? 'Nothing changed since the previous snapshot.'
      : 'No object fits the search.'
  if (rows.length === 0) return html`<p class="notice">${none}</p>`
  return html`${dataTable(`${plural(rows.length, 'object')}${q === '' ? '' : ' found'}`, columns, cells)}
${pageLinks(shown, (page) => address(path, { ...asked, sort, page }))}`
}
