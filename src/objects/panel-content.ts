import { asJsonObject, asText, type JsonObject, tryParseLossless } from './lossless-json.ts'
import type { Reference, SavedObject } from './saved-object.ts'

/** How a panel is drawn. */
export type PanelKind =
  | 'area'
  | 'bar'
  | 'code'
  | 'control'
  | 'gauge'
  | 'heat'
  | 'line'
  | 'map'
  | 'number'
  | 'other'
  | 'pie'
  | 'search'
  | 'table'
  | 'text'
  | 'words'

/**
 * State of the object that a panel shows: `found` in the same snapshot, `inline` in the panel
 * itself, `missing` from the snapshot, `none` when the panel names no object.
 */
type ContentState = 'found' | 'inline' | 'missing' | 'none'

/** What a panel shows. */
export interface PanelContent {
  readonly state: ContentState
  readonly kind: PanelKind
  /** The panel's own title, else its object's, else the object's id. */
  readonly title: string
  /** `<type>:<object id>` of the object that it shows. */
  readonly objectId: string | undefined
  /** The object, when it is in the snapshot. */
  readonly object: SavedObject | undefined
}

/** Finds an object of the same snapshot by `<type>:<object id>`. */
export type FindObject = (id: string) => SavedObject | undefined

/** Reads what a panel shows. `references` are those of its dashboard. */
export function readContent(
  panel: JsonObject,
  references: ReadonlyMap<string, Reference>,
  findObject: FindObject,
): PanelContent {
  const config = asJsonObject(panel.get('embeddableConfig'))
  const named = nameObject(panel, references)
  const objectId = named && `${named.type}:${named.id}`
  const object = objectId === undefined ? undefined : findObject(objectId)
  const inline = asJsonObject(config?.get('savedVis')) ?? asJsonObject(config?.get('attributes'))
  const type = named?.type ?? asText(panel.get('type')) ?? ''
  const own = textIn(panel, 'title') ?? textIn(config, 'title')
  const fallback = objectId ?? (type === '' ? 'Panel without an object' : `Untitled ${type}`)
  return {
    state: stateOf(object, objectId, inline),
    kind: kindOf(type, object, inline),
    title: own ?? (object?.title || undefined) ?? textIn(inline, 'title') ?? fallback,
    objectId,
    object,
  }
}

function stateOf(
  object: SavedObject | undefined,
  objectId: string | undefined,
  inline: JsonObject | undefined,
): ContentState {
  if (object !== undefined) return 'found'
  if (objectId !== undefined) return 'missing'
  return inline === undefined ? 'none' : 'inline'
}

/** The object that a panel names by `panelRefName` and `references`, or by `type` and `id`. */
function nameObject(panel: JsonObject, references: ReadonlyMap<string, Reference>) {
  const refName = textIn(panel, 'panelRefName')
  if (refName !== undefined) {
    return references.get(`${textIn(panel, 'panelIndex')}:${refName}`) ?? references.get(refName)
  }
  const [type, id] = [textIn(panel, 'type'), textIn(panel, 'id')]
  return type !== undefined && id !== undefined ? { type, id } : undefined
}

const kindsOfType: Readonly<Record<string, PanelKind>> = { search: 'search', map: 'map' }

/** Kinds by the `type` of a visualization's `visState`. */
const kindsOfVisualization: Readonly<Record<string, PanelKind>> = {
  area: 'area',
  gauge: 'gauge',
  goal: 'gauge',
  heatmap: 'heat',
  histogram: 'bar',
  horizontal_bar: 'bar',
  input_control_vis: 'control',
  line: 'line',
  markdown: 'text',
  metric: 'number',
  metrics: 'line',
  pie: 'pie',
  region_map: 'map',
  table: 'table',
  tagcloud: 'words',
  tile_map: 'map',
  timelion: 'line',
  vega: 'code',
}

/** Kinds by the `type` in the parameters of a `metrics` visualization; others are lines. */
const kindsOfMetrics: Readonly<Record<string, PanelKind>> = {
  gauge: 'gauge',
  markdown: 'text',
  metric: 'number',
  table: 'table',
  top_n: 'bar',
}

function kindOf(
  type: string,
  object: SavedObject | undefined,
  inline: JsonObject | undefined,
): PanelKind {
  const state =
    asJsonObject(tryParseLossless(asText(object?.attributes.get('visState')) ?? '')) ?? inline
  const visualization = textIn(state, 'type') ?? ''
  const metrics = textIn(asJsonObject(state?.get('params')), 'type') ?? ''
  const refined = visualization === 'metrics' ? own(kindsOfMetrics, metrics) : undefined
  return refined ?? own(kindsOfVisualization, visualization) ?? own(kindsOfType, type) ?? 'other'
}

/** Returns an own member of the table, so that `constructor` is not found. */
function own(table: Readonly<Record<string, PanelKind>>, name: string): PanelKind | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** A member that is a number or a text that is not blank, as trimmed text. */
function textIn(holder: JsonObject | undefined, member: string): string | undefined {
  const value = holder?.get(member)
  return typeof value === 'number' ? String(value) : asText(value)?.trim() || undefined
}
