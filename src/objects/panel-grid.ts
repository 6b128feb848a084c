import type { PanelPlace } from './diff-objects.ts'
import {
  asJsonObject,
  asText,
  type JsonObject,
  type JsonValue,
  RawNumber,
} from './lossless-json.ts'

/** Columns of a dashboard's grid since Kibana 6.3. All places are given in this grid. */
export const GRID_COLUMNS = 48

/** Rows of the grid that a panel may reach. */
const MAX_ROWS = 10_000

/**
 * How a panel states its place:
 * - `columns`: `col`, `row`, `size_x`, `size_y`, counted from 1, on 12 columns (before Kibana 6.1).
 * - `grid-12`: `gridData` on 12 columns (Kibana 6.1 and 6.2).
 * - `grid-48`: `gridData` on 48 columns (Kibana 6.3 and later, every OpenSearch Dashboards).
 */
export type PlaceForm = 'columns' | 'grid-12' | 'grid-48'

/** The form of each panel, in order; undefined for a panel that states no place. */
export function findForms(panels: readonly JsonObject[]): (PlaceForm | undefined)[] {
  const unsure = findUnsureForm(panels)
  return panels.map((panel) => {
    const grid = asJsonObject(panel.get('gridData'))
    if (grid !== undefined) return isUnsure(panel) ? unsure : formOfVersion(panel)
    return panel.has('col') || panel.has('row') ? 'columns' : undefined
  })
}

/**
 * The place of a panel on 48 columns, converted as Kibana converts it: columns by 4, rows by 5, or
 * by 4 on a dashboard with margins. A panel beyond the right edge is moved to the left until it
 * fits. Returns undefined when the panel states no place, or one with negative numbers.
 */
export function readPlace(
  panel: JsonObject,
  form: PlaceForm | undefined,
  margins: boolean,
): PanelPlace | undefined {
  if (form === undefined) return undefined
  const place = form === 'columns' ? readColumns(panel) : readGrid(panel)
  if (place === undefined) return undefined
  const [across, down] = form === 'grid-48' ? [1, 1] : [4, margins ? 4 : 5]
  const width = Math.min(place.width * across, GRID_COLUMNS)
  const height = place.height * down
  const x = Math.min(place.x * across, GRID_COLUMNS - width)
  const y = place.y * down
  const isUsable = x >= 0 && y >= 0 && width > 0 && height > 0 && y + height <= MAX_ROWS
  return isUsable ? { x, y, width, height } : undefined
}

/**
 * Kibana's main branch called itself `7.0.0-alpha1` before and after its grid got 48 columns
 * (elastic/kibana#16763), so this version alone does not tell.
 */
function isUnsure(panel: JsonObject): boolean {
  return asText(panel.get('version'))?.startsWith('7.0.0-alpha1') ?? false
}

function formOfVersion(panel: JsonObject): PlaceForm {
  return /^6\.[0-2]\./.test(asText(panel.get('version')) ?? '') ? 'grid-12' : 'grid-48'
}

/**
 * The form of the panels of version `7.0.0-alpha1`. Another panel of the dashboard with a clear
 * version decides. Without one the grid has 48 columns when a panel lies beyond the twelfth.
 */
function findUnsureForm(panels: readonly JsonObject[]): PlaceForm {
  const onGrid = panels.filter((panel) => asJsonObject(panel.get('gridData')) !== undefined)
  const sure = onGrid.find((panel) => !isUnsure(panel))
  if (sure !== undefined) return formOfVersion(sure)
  const isWide = onGrid.some((panel) => {
    const place = readGrid(panel)
    return place !== undefined && place.x + place.width > 12
  })
  return isWide ? 'grid-48' : 'grid-12'
}

function readGrid(panel: JsonObject): PanelPlace | undefined {
  const grid = asJsonObject(panel.get('gridData'))
  const [x, y] = [asNumber(grid?.get('x')), asNumber(grid?.get('y'))]
  const [width, height] = [asNumber(grid?.get('w')), asNumber(grid?.get('h'))]
  if (x === undefined || y === undefined || width === undefined || height === undefined) {
    return undefined
  }
  return { x, y, width, height }
}

/** A panel without a size has half of the width and three rows, as in Kibana. */
function readColumns(panel: JsonObject): PanelPlace | undefined {
  const [column, row] = [asNumber(panel.get('col')), asNumber(panel.get('row'))]
  if (column === undefined || row === undefined) return undefined
  const width = asNumber(panel.get('size_x')) ?? 6
  const height = asNumber(panel.get('size_y')) ?? 3
  return { x: column - 1, y: row - 1, width, height }
}

/** A finite number, also one that is written as `1.0`. */
function asNumber(value: JsonValue | undefined): number | undefined {
  const number = value instanceof RawNumber ? Number(value.text) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}
