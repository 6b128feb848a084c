import { html, raw } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { exportsOf, pickObjects } from '../../archive/stored-export.ts'
import { compareLayouts, type PanelPair } from '../../objects/compare-layouts.ts'
import { type DashboardLayout, readLayout } from '../../objects/dashboard-layout.ts'
import { splitId } from '../../objects/object-id.ts'
import { parseSavedObject, type SavedObject } from '../../objects/saved-object.ts'
import { describeChanges, drawLegend } from '../dashboard/changes.ts'
import { drawComparison, drawLayout } from '../dashboard/draw.ts'
import type { FoundObject } from '../find-object.ts'
import type { Library } from '../library.ts'
import { address, type Markup, outside } from '../markup.ts'

/** Whether an object is drawn. */
export function isDashboard({ id, type }: FoundObject): boolean {
  return (splitId(id)?.type ?? type) === 'dashboard'
}

/** Reads what a dashboard looks like, with the objects of its snapshot that its panels show. */
export async function readDashboard(
  library: Library,
  manifest: Manifest,
  { object, signal }: { object: FoundObject; signal: AbortSignal },
): Promise<DashboardLayout> {
  const dashboard = parseSavedObject(object.bytes, object.type)
  const wanted = new Set<string>()
  readLayout(dashboard, (id) => {
    wanted.add(id)
    return undefined
  })
  const shown = await readObjects(library, manifest, { ids: wanted, signal })
  return readLayout(dashboard, (id) => shown.get(id))
}

async function readObjects(
  { store, read }: Library,
  manifest: Manifest,
  { ids, signal }: { ids: ReadonlySet<string>; signal: AbortSignal },
): Promise<Map<string, SavedObject>> {
  const types = new Set([...ids].map((id) => splitId(id)?.type))
  const objects = new Map<string, SavedObject>()
  for (const stored of exportsOf(store, manifest).filter(({ type }) => types.has(type))) {
    const pick = ({ id }: { id: string }, { bytes }: { bytes: Uint8Array }) =>
      ids.has(id) ? parseSavedObject(bytes, stored.type) : undefined
    for (const object of (await pickObjects(stored, pick, { ...read, signal })) ?? []) {
      objects.set(object.id, object)
    }
  }
  return objects
}

/** The drawing of a dashboard. A panel leads to the object that it shows. */
export function dashboardDrawing(layout: DashboardLayout, path: string): Markup {
  const linkTo = ({ content }: DashboardLayout['panels'][number]) =>
    content.object && address(`${path}/object`, { id: content.object.id })
  return html`<h2>Panels</h2>
${problemList(layout)}
${raw(drawLayout(layout, { label: 'panels', idPrefix: '' }, linkTo))}`
}

/** Both layouts of a dashboard side by side, and what has happened to each panel. */
export function dashboardComparison(
  before: DashboardLayout,
  after: DashboardLayout,
  labels: { before: string; after: string },
): Markup {
  const comparison = compareLayouts(before, after)
  const changed = comparison.pairs.filter(({ changes }) => changes.length > 0)
  const entry = (pair: PanelPair) => html`<li id="change-${pair.number}">
${outside((pair.after ?? pair.before)?.content.title ?? '')}: ${describeChanges(pair)}</li>`
  return html`<h2>Panels</h2>
${raw(drawLegend(comparison))}
${raw(drawComparison(comparison, labels))}
${changed.length > 0 && html`<ul class="diff">${changed.map(entry)}</ul>`}`
}

function problemList({ problems }: DashboardLayout): Markup | false {
  return (
    problems.length > 0 &&
    html`<div class="notice"><ul>${problems.map((problem) => html`<li>${outside(problem)}.</li>`)}</ul></div>`
  )
}
