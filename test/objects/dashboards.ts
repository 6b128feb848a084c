import type { DashboardLayout } from '../../src/objects/dashboard-layout.ts'
import { readLayout } from '../../src/objects/dashboard-layout.ts'
import { parseSavedObject, type SavedObject } from '../../src/objects/saved-object.ts'

/** A saved object in the specified form, or in the newer one with `references`. */
export function makeObject(
  type: string,
  id: string,
  attributes: Record<string, unknown>,
  references?: readonly unknown[],
): SavedObject {
  const source = { type, [type]: attributes, ...(references && { references }) }
  const hit = { _id: `${type}:${id}`, _type: 'doc', _source: source }
  return parseSavedObject(Buffer.from(JSON.stringify(hit)), type)
}

/** A dashboard with these panels, or with this text in place of them. */
export function makeDashboard(
  panels: readonly unknown[] | string,
  { margins = false, references = [] as readonly unknown[], title = 'Sales' } = {},
): SavedObject {
  const panelsJSON = typeof panels === 'string' ? panels : JSON.stringify(panels)
  const optionsJSON = JSON.stringify({ useMargins: margins })
  return makeObject('dashboard', 'sales', { title, panelsJSON, optionsJSON }, references)
}

/** A panel of the newest form. */
export function gridPanel(panelIndex: string, [x, y, w, h]: readonly number[], more = {}) {
  const place = { version: '7.17.0', panelIndex, gridData: { x, y, w, h, i: panelIndex } }
  return { ...place, type: 'visualization', id: `object-${panelIndex}`, ...more }
}

/** The layout of a dashboard beside these objects. */
export function layoutOf(
  dashboard: SavedObject,
  objects: readonly SavedObject[] = [],
): DashboardLayout {
  return readLayout(dashboard, (id) => objects.find((object) => object.id === id))
}

/** The layout of a dashboard with these panels, alone in its snapshot. */
export function layoutWith(panels: readonly unknown[] | string): DashboardLayout {
  return layoutOf(makeDashboard(panels))
}
