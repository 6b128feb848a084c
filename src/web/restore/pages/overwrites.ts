import { html } from 'hono/html'
import { readLayout } from '../../../objects/dashboard-layout.ts'
import type { ObjectDiff } from '../../../objects/diff-objects.ts'
import { parseSavedObject } from '../../../objects/saved-object.ts'
import type { ObjectEntry } from '../../../restore/catalogue.ts'
import type { PreparedRestore } from '../../../run/restore-to-service.ts'
import { formatTime, plural } from '../../../wording.ts'
import { address } from '../../addresses.ts'
import { dashboardChanges } from '../../compare/dashboard-changes.ts'
import { objectDifferences } from '../../compare/differences.ts'
import type { Library } from '../../library.ts'
import { type Markup, nameOf, outside } from '../../markup.ts'
import { isDashboard, panelObjects, readDashboard } from '../../pages/dashboard.ts'
import type { FoundSnapshot } from '../../requests.ts'

/** Objects whose differences are listed, and dashboards that are drawn. */
const MAX_LISTED = 200
const MAX_DRAWN = 10

/** An object that is overwritten. */
interface Change {
  readonly entry: ObjectEntry
  readonly diff: ObjectDiff
  /** The hits of a dashboard that is drawn. */
  readonly drawn: { readonly before: Uint8Array; readonly after: Uint8Array } | undefined
}

/** What overwriting changes: a list for each object, and both layouts of a dashboard. */
export async function overwriteSections(
  library: Library,
  found: FoundSnapshot,
  { prepared, signal }: { prepared: PreparedRestore; signal: AbortSignal },
): Promise<Markup | undefined> {
  const total = prepared.plan.objects.filter(({ action }) => action === 'overwrite').length
  if (total === 0) return undefined
  const changes = await readChanges(prepared)
  const present = await readPanels(changes, prepared)
  const sections: Markup[] = []
  for (const [place, change] of changes.entries()) {
    const drawing = await draw(library, found, { change, place, present, signal })
    sections.push(section(change, place, drawing))
  }
  const hidden = total - changes.length
  return html`<h2>What overwriting changes</h2>
<p>From the object in the service to the object of the snapshot.</p>
${sections}
${hidden > 0 && html`<p class="notice">The differences of ${plural(hidden, 'object')} are not shown: they are too many or too large.</p>`}`
}

async function readChanges(prepared: PreparedRestore): Promise<Change[]> {
  const changes: Change[] = []
  let drawn = 0
  for await (const { planned, before, after, diff } of prepared.overwrites()) {
    const { entry } = planned
    const isDrawn = drawn < MAX_DRAWN && isDashboard({ id: entry.id, type: entry.exportType })
    if (isDrawn) drawn += 1
    const hits = isDrawn ? { before, after: Uint8Array.from(after) } : undefined
    changes.push({ entry, diff, drawn: hits })
    if (changes.length === MAX_LISTED) break
  }
  return changes
}

/** The objects that the dashboards show in the service, by id. */
async function readPanels(
  changes: readonly Change[],
  prepared: PreparedRestore,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const ids = changes.flatMap(({ entry, drawn }) =>
    drawn ? [...panelObjects(parseSavedObject(drawn.before, entry.exportType))] : [],
  )
  return ids.length === 0 ? new Map() : prepared.readHits([...new Set(ids)])
}

async function draw(
  library: Library,
  { line: { manifest, folder } }: FoundSnapshot,
  {
    change: { entry, drawn, diff },
    place,
    present,
    signal,
  }: {
    change: Change
    place: number
    present: ReadonlyMap<string, Uint8Array>
    signal: AbortSignal
  },
): Promise<Markup | undefined> {
  if (drawn === undefined) return undefined
  const { id, exportType: type, title } = entry
  const before = readLayout(parseSavedObject(drawn.before, type), (wanted) => {
    const hit = present.get(wanted)
    return hit && parseSavedObject(hit, wanted.slice(0, wanted.indexOf(':')))
  })
  const object = { id, type, title, bytes: drawn.after }
  const { store } = library
  const read = { ...library.read, signal }
  const after = await readDashboard({ store, manifest }, { object, read })
  const labels = {
    before: 'In the service now',
    after: `In the snapshot of ${formatTime(folder.takenAt)} UTC`,
    idPrefix: `overwrite-${place}-`,
  }
  const { accountId, snapshot } = folder
  const sides = { from: `${accountId}/${snapshot}`, to: `${accountId}/service` }
  const linkTo = (wanted: string) => address('/compare', { ...sides, id: wanted })
  return dashboardChanges({ before, after, labels, diff, linkTo })
}

function section(
  { entry: { id, title }, diff }: Change,
  place: number,
  drawing: Markup | undefined,
): Markup {
  return html`<section class="overwrite" aria-labelledby="overwrite-${place}">
<h2 id="overwrite-${place}"><span class="sign" aria-hidden="true">~</span> ${outside(nameOf({ title, id }))}<span class="id">${outside(id)}</span></h2>
${drawing ?? objectDifferences(diff)}
</section>`
}
