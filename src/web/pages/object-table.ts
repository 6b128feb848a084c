import { html } from 'hono/html'
import { createTextMatcher } from '../../objects/match-object.ts'
import { formatBytes, plural } from '../../wording.ts'
import { address, isAddressable, objectPath } from '../addresses.ts'
import { matchList } from '../find/page.ts'
import type { AccountView } from '../library.ts'
import {
  type Column,
  dataTable,
  type Markup,
  nameOf,
  objectLink,
  stateLabel,
  timeOf,
} from '../markup.ts'
import { pageLinks, pageOf } from '../paging.ts'
import { choiceBox } from '../restore/controls.ts'
import type { FoundRows, Row, SnapshotQuery } from './snapshot-rows.ts'

/** Objects in one table. */
const PAGE_SIZE = 500

/** The table of objects at `path`. With `canChoose`, each has a box that marks it for the basket. */
export function objectTable(
  path: string,
  { rows, places }: FoundRows,
  { view, query, canChoose }: { view: AccountView; query: SnapshotQuery; canChoose: boolean },
): Markup {
  const { q, type, sort, changed } = query
  const asked = { q, type, changed: changed ? 1 : undefined }
  const sortable = (column: { key: string; name: string; number?: boolean }) =>
    sortableColumn(column, sort, (wanted) => address(path, { ...asked, sort: wanted }))
  const shown = pageOf(rows, query.page, PAGE_SIZE)
  // Objects of older versions have no date.
  const isDated = rows.some(({ updatedAt }) => updatedAt !== null)
  const columns = [
    sortable({ key: 'title', name: 'Title' }),
    sortable({ key: 'type', name: 'Type' }),
    ...(changed ? [{ name: 'Change' }] : []),
    sortable({ key: 'size', name: 'Size', number: true }),
    ...(isDated ? [sortable({ key: 'changed', name: 'Last changed' })] : []),
  ]
  const whereOf = ({ id, title }: Row) => {
    const found = places?.objects.get(id)
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
      : 'No object matches the search.'
  if (rows.length === 0) return html`<p class="notice">${none}</p>`
  return html`${dataTable(`${plural(rows.length, 'object')}${q === '' ? '' : ' found'}`, columns, cells)}
${pageLinks(shown, (page) => address(path, { ...asked, sort, page }))}`
}

/** A column whose header sorts the table, and turns the order when the table is sorted by it. */
function sortableColumn(
  { key, name, number = false }: { key: string; name: string; number?: boolean },
  sort: string,
  hrefOf: (sort: string) => string,
): Column {
  const sorted = orderOf(key, sort)
  const href = hrefOf(sorted === 'ascending' ? `-${key}` : key)
  const arrow =
    sorted && html` <span aria-hidden="true">${sorted === 'ascending' ? '▲' : '▼'}</span>`
  return { name, number, sorted, header: html`<a href="${href}">${name}${arrow}</a>` }
}

/** How a table is sorted by a column; undefined when it is sorted by another one. */
function orderOf(key: string, sort: string): Column['sorted'] {
  if (sort === key) return 'ascending'
  return sort === `-${key}` ? 'descending' : undefined
}
