import type { HitForm } from '../options.ts'

/** A part of a template that differs between hits. Its length is fixed. */
export interface Place {
  readonly kind: 'self' | 'reference' | 'ordinal' | 'filler' | 'index' | 'score'
  readonly at: number
  readonly length: number
  /** For `reference`: the target type, and the number of the reference. */
  readonly type: string
  readonly nth: number
}

/** A hit with placeholders. */
export interface HitTemplate {
  readonly bytes: Uint8Array
  readonly places: readonly Place[]
}

/** Number of objects of another type that one object of `type` refers to. */
export const referencesPerObject: Readonly<Record<string, number>> = {
  visualization: 1,
  dashboard: 6,
}

/** Number of different templates for each type. */
const VARIANTS = 8

const UUID_LENGTH = 36
const SELF = placeholder('self', UUID_LENGTH)
const ORDINAL = placeholder('ordinal', 9)
const INDEX = placeholder('index', 10)
const SCORE = placeholder('score', 8)
const SHORTEST_FILLER = placeholder('filler', 8)

const subjects = ['Checkout', 'Payments', 'Search', 'Login', 'Delivery', 'Stock', 'Mail', 'Images']
const measures = ['errors', 'latency', 'requests', 'retries', 'users', 'bytes', 'queue', 'cache']
const charts = ['line', 'area', 'histogram', 'pie', 'table', 'metric', 'tagcloud', 'heatmap']

/**
 * Creates the templates for hits of one type. All have the same size, at least `hitBytes`.
 * `available` tells whether a type has objects to refer to.
 */
export function hitTemplates(
  type: string,
  options: { form: HitForm; hitBytes: number; available: ReadonlySet<string> },
): HitTemplate[] {
  const variants = Array.from({ length: VARIANTS }, (_, variant) => variant)
  const draw = (variant: number, filler: string) =>
    hitText(type, savedObject(type, { variant, filler, available: options.available }), {
      form: options.form,
      variant,
    })
  const least = variants.map((variant) => draw(variant, SHORTEST_FILLER).length)
  const size = Math.max(options.hitBytes, ...least)
  return variants.map((variant) => {
    const missing = size - (least[variant] as number)
    return toTemplate(draw(variant, placeholder('filler', SHORTEST_FILLER.length + missing)))
  })
}

interface ObjectOptions {
  readonly variant: number
  readonly filler: string
  readonly available: ReadonlySet<string>
}

function savedObject(type: string, options: ObjectOptions): object {
  if (type === 'search') return search(options)
  if (type === 'visualization') return visualization(options)
  if (type === 'dashboard') return dashboard(options)
  return { title: titleFor(options.variant), description: options.filler, version: 1 }
}

function search({ variant, filler }: ObjectOptions): object {
  return {
    title: titleFor(variant),
    description: filler,
    hits: 0,
    columns: ['level', 'service', 'message', pick(measures, variant)],
    sort: ['@timestamp', 'desc'],
    version: 1,
    kibanaSavedObjectMeta: {
      searchSourceJSON: JSON.stringify({
        index: '[logs-]YYYY.MM.DD',
        query: { query_string: { query: `service:${pick(subjects, variant).toLowerCase()}` } },
        filter: [],
        highlight: { fields: { '*': {} }, fragment_size: 2147483647 },
      }),
    },
  }
}

function visualization({ variant, filler, available }: ObjectOptions): object {
  const title = titleFor(variant)
  return {
    title,
    visState: JSON.stringify({
      title,
      type: pick(charts, variant),
      params: { addLegend: true, addTooltip: true, legendPosition: 'right', times: [] },
      aggs: [
        { id: '1', type: 'avg', schema: 'metric', params: { field: pick(measures, variant) } },
        { id: '2', type: 'terms', schema: 'group', params: { field: 'service', size: 10 } },
      ],
    }),
    description: filler,
    savedSearchId: available.has('search') ? reference('search', 0) : '',
    version: 1,
    kibanaSavedObjectMeta: { searchSourceJSON: '{"query":{"match_all":{}},"filter":[]}' },
  }
}

function dashboard({ variant, filler, available }: ObjectOptions): object {
  const panels = available.has('visualization')
    ? Array.from({ length: referencesPerObject.dashboard as number }, (_, panel) => ({
        panelIndex: panel + 1,
        type: 'visualization',
        id: reference('visualization', panel),
        col: (panel % 2) * 6 + 1,
        row: Math.floor(panel / 2) * 4 + 1,
        size_x: 6,
        size_y: 4,
      }))
    : []
  return {
    title: titleFor(variant),
    description: filler,
    hits: 0,
    timeRestore: variant % 2 === 0,
    version: 1,
    panelsJSON: JSON.stringify(panels),
    kibanaSavedObjectMeta: { searchSourceJSON: '{"filter":[{"query":{"match_all":{}}}]}' },
    _svcOriginalAppId: 10_000 + variant,
  }
}

function hitText(
  type: string,
  object: object,
  { form, variant }: { form: HitForm; variant: number },
): string {
  const oldest = form === 'oldest'
  const named = JSON.stringify({
    _type: oldest ? type : 'doc',
    _id: oldest ? SELF : `${type}:${SELF}`,
  })
  const source = JSON.stringify(sourceOf(type, object, { form, variant }))
  return `{"_index":"${INDEX}",${named.slice(1, -1)},"_score":${SCORE},"_source":${source}}`
}

function sourceOf(
  type: string,
  object: object,
  { form, variant }: { form: HitForm; variant: number },
): object {
  const touchedAt = new Date(Date.UTC(2023, variant, 2 * variant + 1, 9, 30))
  if (form === 'specified') return { type, [type]: object }
  if (form === 'newer') {
    return {
      type,
      [type]: object,
      id: SELF,
      references: [{ name: 'logs', type: 'index-pattern', id: 'logs-all' }],
      migrationVersion: { [type]: '7.9.3' },
      updated_at: variant % 2 === 0 ? touchedAt.getTime() : touchedAt.toISOString(),
    }
  }
  const person = { userId: 40 + variant, fullName: 'Robin Example', username: 'robin@shop.example' }
  return {
    ...object,
    _createdBy: person,
    _createdAt: touchedAt.getTime(),
    _updatedBy: person,
    _updatedAt: touchedAt.getTime(),
  }
}

/** Finds the placeholders in a hit. The hit is ASCII. */
function toTemplate(text: string): HitTemplate {
  const places = [
    ...text.matchAll(/~(self|ordinal|filler|index|score|reference:([a-z]+):(\d+))~+/g),
  ]
  return {
    bytes: Buffer.from(text, 'latin1'),
    places: places.map((match) => ({
      kind: (match[1] as string).split(':')[0] as Place['kind'],
      at: match.index,
      length: match[0].length,
      type: match[2] ?? '',
      nth: Number(match[3] ?? 0),
    })),
  }
}

function titleFor(variant: number): string {
  return `${pick(subjects, variant)} ${pick(measures, variant * 3)} ${ORDINAL}`
}

function reference(type: string, nth: number): string {
  return placeholder(`reference:${type}:${nth}`, UUID_LENGTH)
}

function placeholder(name: string, length: number): string {
  return `~${name}~`.padEnd(length, '~')
}

function pick(words: readonly string[], at: number): string {
  return words[at % words.length] as string
}
