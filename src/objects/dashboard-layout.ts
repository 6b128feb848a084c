import type { PanelPlace } from './diff-objects.ts'
import { asJsonObject, asText, type JsonObject, tryParseLossless } from './lossless-json.ts'
import { type FindObject, type PanelContent, readContent } from './panel-content.ts'
import { findForms, GRID_COLUMNS, type PlaceForm, readPlace } from './panel-grid.ts'
import type { SavedObject } from './saved-object.ts'

/** Panels that are read of a dashboard. Kibana itself allows 100 in its newest versions. */
const MAX_PANELS = 1000

/** A panel of a dashboard. */
export interface DashboardPanel {
  /** The panel's `panelIndex`, when it has one. */
  readonly panelIndex: string | undefined
  /** On 48 columns. A panel without a usable place is put below the others. */
  readonly place: PanelPlace
  /** Whether the panel itself states a usable place. */
  readonly isPlaced: boolean
  readonly content: PanelContent
  /** The panel as it is stored. */
  readonly stored: JsonObject
}

/** What a dashboard looks like. */
export interface DashboardLayout {
  readonly title: string
  /** How the panels state their places; `mixed` for several ways, `none` for no panel with a place. */
  readonly form: PlaceForm | 'mixed' | 'none'
  /** Rows that the panels take, on the grid of 48 columns. */
  readonly rows: number
  readonly panels: readonly DashboardPanel[]
  /** What is wrong with the panels, each as a sentence without its full stop. */
  readonly problems: readonly string[]
}

/**
 * Reads the panels of a dashboard in any form that Kibana has stored. It finds titles and kinds with
 * `findObject` in the dashboard's own snapshot. It never throws: `problems` lists what it cannot use.
 */
export function readLayout(dashboard: SavedObject, findObject: FindObject): DashboardLayout {
  const { stored, total, problem } = readPanels(dashboard.attributes)
  const margins = hasMargins(dashboard.attributes)
  const references = new Map(dashboard.references.map((one) => [one.name, one]))
  const forms = findForms(stored)
  const places = stored.map((panel, nth) => readPlace(panel, forms[nth], margins))
  const filled = putBelow(places)
  const panels = stored.map((panel, nth): DashboardPanel => {
    const index = panel.get('panelIndex')
    return {
      panelIndex: typeof index === 'number' ? String(index) : asText(index) || undefined,
      place: filled[nth] as PanelPlace,
      isPlaced: places[nth] !== undefined,
      content: readContent(panel, references, findObject),
      stored: panel,
    }
  })
  return {
    title: dashboard.title ?? dashboard.objectId,
    form: joinForms(forms),
    rows: rowsOf(filled),
    panels,
    problems: problem !== undefined ? [problem] : findProblems(panels, total),
  }
}

/** How many panels state their place and share a part of it with an earlier panel. */
function countOverlaps(panels: readonly DashboardPanel[]): number {
  const placed = panels.filter(({ isPlaced }) => isPlaced).map(({ place }) => place)
  const overlapping = placed.filter((place, nth) =>
    placed.some((other, at) => at < nth && overlap(place, other)),
  )
  return overlapping.length
}

function overlap(one: PanelPlace, other: PanelPlace): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  )
}

interface StoredPanels {
  readonly stored: readonly JsonObject[]
  /** Number of panels, also of those that are not read. */
  readonly total: number
  readonly problem?: string
}

function readPanels(attributes: JsonObject): StoredPanels {
  const none = { stored: [], total: 0 }
  const member = attributes.get('panelsJSON')
  if (member === undefined) return { ...none, problem: 'The dashboard has no panelsJSON' }
  const text = asText(member)
  if (text?.trim() === '') return none
  const list = text === undefined ? member : tryParseLossless(text)
  if (list === undefined) return { ...none, problem: 'panelsJSON is not JSON' }
  if (!Array.isArray(list)) return { ...none, problem: 'panelsJSON is not a list of panels' }
  const read = list.slice(0, MAX_PANELS).map((item) => asJsonObject(item) ?? new Map())
  return { stored: read, total: list.length }
}

function hasMargins(attributes: JsonObject): boolean {
  const options = tryParseLossless(asText(attributes.get('optionsJSON')) ?? '')
  return asJsonObject(options)?.get('useMargins') === true
}

const UNPLACED = { width: GRID_COLUMNS / 4, height: 8 }

/** Gives each panel without a place one below all others, four in a row. */
function putBelow(places: readonly (PanelPlace | undefined)[]): PanelPlace[] {
  const rows = rowsOf(places.filter((place) => place !== undefined))
  let unplaced = 0
  return places.map((place) => {
    if (place !== undefined) return place
    const [x, y] = [(unplaced % 4) * UNPLACED.width, Math.floor(unplaced / 4) * UNPLACED.height]
    unplaced += 1
    return { ...UNPLACED, x, y: rows + y }
  })
}

function rowsOf(places: readonly PanelPlace[]): number {
  return places.reduce((rows, { y, height }) => Math.max(rows, y + height), 0)
}

function joinForms(forms: readonly (PlaceForm | undefined)[]): DashboardLayout['form'] {
  const [form = 'none', ...others] = new Set(forms.filter((one) => one !== undefined))
  return others.length > 0 ? 'mixed' : form
}

function findProblems(panels: readonly DashboardPanel[], total: number): string[] {
  const unplaced = panels.filter(({ isPlaced }) => !isPlaced).length
  const overlaps = countOverlaps(panels)
  return [
    ...(total > panels.length ? [`Only ${panels.length} of ${total} panels are shown`] : []),
    ...(unplaced > 0 ? [`Without a usable place, shown below the others: ${unplaced}`] : []),
    ...(overlaps > 0 ? [`Panels that overlap an earlier panel: ${overlaps}`] : []),
  ]
}
