import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  RawNumber,
  stringifyLossless,
  textIn,
  tryParseLossless,
} from './lossless-json.ts'
import type { SavedObject } from './saved-object.ts'

/** A query and its language, such as `kuery` or `lucene`; `dsl` for a query as JSON. */
export interface Query {
  readonly language: string
  readonly text: string
}

/** An aggregation of a visualization, a series of a time series, or a control. */
export interface Aggregation {
  /** What it is used for, such as `metric`, `segment`, `series` or `control`. */
  readonly role: string
  /** Such as `terms`, `avg` or `date_histogram`. */
  readonly name: string
  readonly field: string | undefined
  readonly label: string | undefined
  /** Further settings in words. */
  readonly details: readonly string[]
  readonly isEnabled: boolean
}

/** What visualizations and searches search for. */
interface Source {
  /** Id of the index pattern, or its name. */
  readonly index: string | undefined
  readonly query: Query | undefined
  readonly filters: readonly string[]
}

/** A visualization as people think of it. */
export interface VisualizationDescription extends Source {
  readonly type: 'visualization'
  /** Such as `pie` or `metrics timeseries`. */
  readonly kind: string
  /** Id of the saved search that it is based on. */
  readonly savedSearch: string | undefined
  readonly aggregations: readonly Aggregation[]
  /** Text that people write: Markdown, an expression, a Vega specification. */
  readonly text: { readonly name: string; readonly text: string } | undefined
}

/** A saved search as people think of it. */
export interface SearchDescription extends Source {
  readonly type: 'search'
  readonly columns: readonly string[]
  readonly sort: readonly { readonly field: string; readonly direction: string }[]
}

/** Aggregations, filters and columns that are read. */
const MAX_ITEMS = 500
/** Characters of a setting. */
const MAX_DETAIL = 200

/**
 * Describes a visualization or a search of any form that Kibana has stored. Undefined for other types
 * and for objects that cannot be read as one. It never throws.
 */
export function describeContent(
  object: SavedObject,
): VisualizationDescription | SearchDescription | undefined {
  if (object.type === 'visualization') return describeVisualization(object)
  return object.type === 'search' ? describeSearch(object) : undefined
}

function describeVisualization(object: SavedObject): VisualizationDescription | undefined {
  const state = nested(object.attributes, 'visState')
  const name = textIn(state, 'type')
  if (state === undefined || name === undefined) return undefined
  const params = asJsonObject(state.get('params'))
  const kind = name === 'metrics' ? `metrics ${textIn(params, 'type') ?? ''}`.trim() : name
  const source = readSource(object)
  return {
    type: 'visualization',
    kind,
    ...source,
    index: source.index ?? indexOfParams(params),
    query: source.query ?? readQuery(params?.get('filter')),
    savedSearch:
      textIn(object.attributes, 'savedSearchId') ??
      referenced(object, object.attributes, 'savedSearchRefName'),
    aggregations: [
      ...readAggregations(state),
      ...readSeries(params),
      ...readControls(params, object),
    ],
    text: readText(params),
  }
}

function describeSearch(object: SavedObject): SearchDescription | undefined {
  const { attributes } = object
  const columns = itemsOf(attributes.get('columns')).flatMap((one) => asText(one) ?? [])
  const source = readSource(object)
  const isEmpty = !attributes.has('columns') && source.query === undefined
  if (isEmpty && source.index === undefined) return undefined
  return { type: 'search', columns, sort: readSort(attributes.get('sort')), ...source }
}

/** `["time","desc"]` of older forms, or a list of such pairs. */
function readSort(value: JsonValue | undefined) {
  const items = itemsOf(value)
  const pairs = items.some(Array.isArray) ? items.map(itemsOf) : [items]
  return pairs.flatMap(([field, direction]) => {
    return asText(field) ? [{ field: asText(field) ?? '', direction: asText(direction) ?? '' }] : []
  })
}

function readSource(object: SavedObject): Source {
  const meta = asJsonObject(object.attributes.get('kibanaSavedObjectMeta'))
  const source = meta && nested(meta, 'searchSourceJSON')
  return {
    index: textIn(source, 'index') ?? referenced(object, source, 'indexRefName'),
    query: readQuery(source?.get('query')),
    filters: itemsOf(source?.get('filter')).flatMap((one) => describeFilter(asJsonObject(one))),
  }
}

/** The id that a member names by way of `references`. */
function referenced(
  { references }: SavedObject,
  holder: JsonObject | undefined,
  member: string,
): string | undefined {
  const wanted = textIn(holder, member)
  return wanted && references.find(({ name }) => name === wanted)?.id
}

/** Text, `{query, language}`, `{query_string: {query}}`, or another query as JSON; undefined for none. */
function readQuery(value: JsonValue | undefined): Query | undefined {
  if (typeof value === 'string')
    return value === '' ? undefined : { language: 'lucene', text: value }
  const query = asJsonObject(value)
  if (query === undefined || query.size === 0) return undefined
  const language = textIn(query, 'language')
  const own = query.get('query')
  if (language !== undefined) {
    const text = typeof own === 'string' ? own : readQuery(own)?.text
    return text ? { language, text } : undefined
  }
  const string = asJsonObject(query.get('query_string'))
  if (string !== undefined) return readQuery(string.get('query'))
  if (typeof own === 'string') return readQuery(own)
  return { language: 'dsl', text: stringifyLossless(query) }
}

/** A filter in one line: its own name, or field and value. */
function describeFilter(filter: JsonObject | undefined): string[] {
  if (filter === undefined) return []
  const meta = asJsonObject(filter.get('meta'))
  const value = textIn(meta, 'value') ?? textIn(asJsonObject(meta?.get('params')), 'query')
  const [alias, key] = [textIn(meta, 'alias'), textIn(meta, 'key')]
  const inner = new Map([...filter].filter(([name]) => name !== 'meta' && name !== '$state'))
  const said = alias ?? (key && value ? `${key}: ${value}` : undefined)
  const words = said ?? (inner.size > 0 ? stringifyLossless(inner) : key)
  if (words === undefined) return []
  const not = meta?.get('negate') === true ? 'NOT ' : ''
  const off = meta?.get('disabled') === true ? ' (disabled)' : ''
  return [`${not}${words.slice(0, MAX_DETAIL)}${off}`]
}

function readAggregations(state: JsonObject): Aggregation[] {
  const all = itemsOf(state.get('aggs')).flatMap((one) => asJsonObject(one) ?? [])
  const names = new Map(all.map((one) => [textIn(one, 'id'), nameOf(one)]))
  return all.map((one) => {
    const params = asJsonObject(one.get('params'))
    return {
      role: textIn(one, 'schema') ?? '',
      name: textIn(one, 'type') ?? '',
      field: fieldOf(params),
      label: textIn(params, 'customLabel'),
      details: detailsOf(params, names),
      isEnabled: one.get('enabled') !== false,
    }
  })
}

function nameOf(aggregation: JsonObject): string {
  const params = asJsonObject(aggregation.get('params'))
  return [textIn(aggregation, 'type'), fieldOf(params)].filter(Boolean).join(' ')
}

/** The field of an aggregation, or of the metric that it is computed from. */
function fieldOf(params: JsonObject | undefined): string | undefined {
  const metric = asJsonObject(params?.get('customMetric'))
  return textIn(params, 'field') ?? textIn(asJsonObject(metric?.get('params')), 'field')
}

/** Settings that change what is shown, in the order in which they are named. */
const settings = ['size', 'interval', 'percents', 'precision', 'aggregate', 'include', 'exclude']

function detailsOf(
  params: JsonObject | undefined,
  names: ReadonlyMap<string | undefined, string>,
): string[] {
  const words = settings.flatMap((name) => {
    const value = textOf(params?.get(name))
    return value === undefined ? [] : [`${name} ${value}`]
  })
  const [order, by] = [textIn(params, 'order'), textIn(params, 'orderBy')]
  const sorted = by === '_term' || by === '_key' ? 'name' : (names.get(by) ?? by)
  const filters = itemsOf(params?.get('filters')).flatMap((one) => {
    const filter = asJsonObject(one)
    const query = readQuery(filter?.get('input'))?.text ?? ''
    const label = textIn(filter, 'label')
    return `filter ${label ? `${label}: ` : ''}${query}`.slice(0, MAX_DETAIL)
  })
  const ranges = itemsOf(params?.get('ranges')).map((one) =>
    `range ${stringifyLossless(one)}`.slice(0, MAX_DETAIL),
  )
  return [
    ...words,
    ...(order ? [`order ${order}${sorted ? ` by ${sorted}` : ''}`] : []),
    ...filters,
    ...ranges,
  ]
}

/** The series of a time series visualization. */
function readSeries(params: JsonObject | undefined): Aggregation[] {
  return itemsOf(params?.get('series')).flatMap((one): Aggregation[] => {
    const series = asJsonObject(one)
    if (series === undefined) return []
    const metrics = itemsOf(series.get('metrics')).flatMap((metric) => asJsonObject(metric) ?? [])
    const members = (name: string) => metrics.flatMap((metric) => textIn(metric, name) ?? [])
    const split = textIn(series, 'split_mode')
    const by = textIn(series, 'terms_field')
    const query = readQuery(series.get('filter'))
    return [
      {
        role: 'series',
        name: members('type').join(', '),
        field:
          [
            ...new Set(
              members('field').filter((field) => !metrics.some((m) => m.get('id') === field)),
            ),
          ].join(', ') || undefined,
        label: textIn(series, 'label'),
        details: [
          ...(split && split !== 'everything'
            ? [`split by ${[split, by].filter(Boolean).join(' ')}`]
            : []),
          ...(query ? [`filter ${query.text}`.slice(0, MAX_DETAIL)] : []),
        ],
        isEnabled: series.get('hidden') !== true,
      },
    ]
  })
}

function readControls(params: JsonObject | undefined, object: SavedObject): Aggregation[] {
  return itemsOf(params?.get('controls')).flatMap((one): Aggregation[] => {
    const control = asJsonObject(one)
    if (control === undefined) return []
    const index =
      textIn(control, 'indexPattern') ?? referenced(object, control, 'indexPatternRefName')
    return [
      {
        role: 'control',
        name: textIn(control, 'type') ?? '',
        field: textIn(control, 'fieldName'),
        label: textIn(control, 'label'),
        details: index ? [`index pattern ${index}`] : [],
        isEnabled: true,
      },
    ]
  })
}

/** The index pattern of a time series visualization: its name, or an object with its id. */
function indexOfParams(params: JsonObject | undefined): string | undefined {
  const value = params?.get('index_pattern')
  return asText(value) || textIn(asJsonObject(value), 'id')
}

function readText(params: JsonObject | undefined) {
  for (const name of ['markdown', 'expression', 'spec']) {
    const value = params?.get(name)
    const text = asText(value) ?? (value instanceof Map ? stringifyLossless(value, 2) : undefined)
    if (text) return { name, text }
  }
  return undefined
}

function nested(holder: JsonObject, member: string): JsonObject | undefined {
  const value = holder.get(member)
  return asJsonObject(typeof value === 'string' ? tryParseLossless(value) : value)
}

function itemsOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : []
}

/** A number, a word, or a list of them. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value instanceof RawNumber) return value.text
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value))
    return (
      value
        .slice(0, 20)
        .flatMap((one) => textOf(one) ?? [])
        .join(', ') || undefined
    )
  return asText(value)?.slice(0, MAX_DETAIL) || undefined
}
