import { html } from 'hono/html'
import { escapeHidden } from '../../clean-text.ts'
import {
  type Aggregation,
  describeContent,
  type Query,
  type SearchDescription,
  type VisualizationDescription,
} from '../../objects/describe-content.ts'
import { parseSavedObject } from '../../objects/saved-object.ts'
import { objectPath, type SnapshotName } from '../addresses.ts'
import type { FoundObject } from '../find-object.ts'
import { dataTable, facts, type Markup, outside, stateLabel } from '../markup.ts'

/** Characters of a text that somebody wrote, and of a query. */
const MAX_TEXT = 20_000
const MAX_QUERY = 2000

/**
 * A visualization as its kind, fields, aggregations and query, or a search as columns, sort and query.
 * Undefined for other objects, and for those that cannot be read as one. `place` is its snapshot.
 */
export function objectView({ bytes, type }: FoundObject, place: SnapshotName): Markup | undefined {
  const description = describeContent(parseSavedObject(bytes, type))
  if (description === undefined) return undefined
  return description.type === 'search'
    ? searchView(description)
    : visualizationView(description, place)
}

function visualizationView(visualization: VisualizationDescription, place: SnapshotName): Markup {
  const { kind, index, query, filters, aggregations, savedSearch, text } = visualization
  const fields = [...new Set(aggregations.flatMap(({ field }) => field ?? []))]
  const search =
    savedSearch &&
    html`<a href="${objectPath(place, `search:${savedSearch}`)}">${outside(savedSearch)}</a>`
  return html`<h2>Visualization</h2>
${facts([
  ['Kind', outside(kind)],
  ['Index pattern', index && outside(index)],
  ['Saved search', search],
  ['Query', query && queryOf(query)],
  ['Filters', list(filters)],
  ['Fields', list(fields)],
])}
${aggregations.length > 0 && aggregationTable(aggregations)}
${text && html`<h3>${text.name}</h3><pre tabindex="0" aria-label="${text.name}"><code>${escapeHidden(text.text.slice(0, MAX_TEXT))}</code></pre>`}`
}

function searchView({ columns, sort, index, query, filters }: SearchDescription): Markup {
  return html`<h2>Search</h2>
${facts([
  ['Index pattern', index && outside(index)],
  ['Columns', list(columns)],
  ['Sort', list(sort.map(({ field, direction }) => `${field} ${direction}`.trim()))],
  ['Query', query ? queryOf(query) : 'all documents'],
  ['Filters', list(filters)],
])}`
}

function queryOf({ language, text }: Query): Markup {
  return html`<code>${outside(text, MAX_QUERY)}</code> <span class="age">${outside(language)}</span>`
}

function list(texts: readonly string[]): Markup | undefined {
  if (texts.length === 0) return undefined
  return html`<ul class="plain">${texts.map((text) => html`<li>${outside(text)}</li>`)}</ul>`
}

function aggregationTable(aggregations: readonly Aggregation[]): Markup {
  const rows = aggregations.map(({ role, name, field, label, details, isEnabled }) => [
    html`${outside(name || '(no type)')}${!isEnabled && html` ${stateLabel('unchanged', 'disabled')}`}`,
    field && outside(field),
    role && outside(role),
    label && outside(label),
    list(details),
  ])
  const names = ['Aggregation', 'Field', 'Used as', 'Label', 'Settings']
  return dataTable(
    'Aggregations',
    names.map((name) => ({ name })),
    rows,
  )
}
