import { html, raw } from 'hono/html'
import type { SnapshotSide } from '../../archive/diff.ts'
import type { ReadOptions } from '../../archive/read-objects.ts'
import { exportsOf, pickObjects } from '../../archive/stored-export.ts'
import { type DashboardLayout, readLayout } from '../../objects/dashboard-layout.ts'
import { splitId } from '../../objects/object-id.ts'
import { parseSavedObject, type SavedObject } from '../../objects/saved-object.ts'
import { objectPath, type SnapshotName } from '../addresses.ts'
import { drawLayout } from '../dashboard/draw.ts'
import type { FoundObject } from '../find-object.ts'
import { type Markup, outside } from '../markup.ts'

/** Whether an object is drawn. */
export function isDashboard({ id, type }: Pick<FoundObject, 'id' | 'type'>): boolean {
  return (splitId(id)?.type ?? type) === 'dashboard'
}

/** Reads what a dashboard looks like, with the objects of its snapshot that its panels show. */
export async function readDashboard(
  side: SnapshotSide,
  { object, read }: { object: FoundObject; read: ReadOptions },
): Promise<DashboardLayout> {
  const dashboard = parseSavedObject(object.bytes, object.type)
  const ids = panelObjects(dashboard)
  const shown = await readObjects(side, ids, read)
  return readLayout(dashboard, (id) => shown.get(id))
}

/** The ids of the objects that a dashboard shows. */
export function panelObjects(dashboard: SavedObject): Set<string> {
  const ids = new Set<string>()
  readLayout(dashboard, (id) => {
    ids.add(id)
    return undefined
  })
  return ids
}

async function readObjects(
  { store, manifest }: SnapshotSide,
  ids: ReadonlySet<string>,
  read: ReadOptions,
): Promise<Map<string, SavedObject>> {
  const types = new Set([...ids].map((id) => splitId(id)?.type))
  const objects = new Map<string, SavedObject>()
  for (const stored of exportsOf(store, manifest).filter(({ type }) => types.has(type))) {
    const pick = ({ id }: { id: string }, { bytes }: { bytes: Uint8Array }) =>
      ids.has(id) ? parseSavedObject(bytes, stored.type) : undefined
    for (const object of (await pickObjects(stored, pick, read)) ?? []) {
      objects.set(object.id, object)
    }
  }
  return objects
}

/** The drawing of a dashboard. Each panel links to the object that it shows, in the snapshot `place`. */
export function dashboardDrawing(layout: DashboardLayout, place: SnapshotName | undefined): Markup {
  const linkTo = ({ content }: DashboardLayout['panels'][number]) =>
    place && content.object && objectPath(place, content.object.id)
  return html`<h2>Panels</h2>
${problemList(layout)}
${raw(drawLayout(layout, { label: 'panels', idPrefix: '' }, linkTo))}`
}

function problemList({ problems }: DashboardLayout): Markup | false {
  return (
    problems.length > 0 &&
    html`<div class="notice"><ul>${problems.map((problem) => html`<li>${outside(problem)}.</li>`)}</ul></div>`
  )
}
