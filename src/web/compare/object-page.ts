import { html } from 'hono/html'
import { diffHits } from '../../objects/diff-objects.ts'
import { splitId } from '../../objects/object-id.ts'
import { objectPath, versionsPath } from '../addresses.ts'
import { type FoundObject, readObject } from '../find-object.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { Library } from '../library.ts'
import { type Markup, nameOf, outside } from '../markup.ts'
import { dashboardDrawing, isDashboard, readDashboard } from '../pages/dashboard.ts'
import { basketButton, type RestoreControls } from '../restore/controls.ts'
import { sidesForm } from './choose.ts'
import { dashboardChanges } from './dashboard-changes.ts'
import { objectDifferences } from './differences.ts'
import { placeOf, type Side } from './sides.ts'
import { compareAddress, compareCommand, type Sides, sideLabel, sidesLine } from './sides-line.ts'

/**
 * What differs between two versions of an object; of a dashboard as drawings, too. Undefined when
 * neither side holds the object.
 */
export async function objectComparison(
  library: Library,
  sides: Sides,
  {
    id,
    signal,
    restore,
  }: { id: string; signal: AbortSignal; restore?: RestoreControls | undefined },
): Promise<Page | undefined> {
  const read = { ...library.read, signal }
  const before = await readObject(sides.before, { id, read })
  const after = await readObject(sides.after, { id, read })
  const newest = after ?? before
  if (newest === undefined) return undefined
  const { view } = after === undefined ? sides.before : sides.after
  const name = nameOf(newest)
  const content =
    before !== undefined && after !== undefined
      ? await twoVersions(library, sides, { before, after, signal })
      : await oneVersion(library, after === undefined ? sides.before : sides.after, {
          object: newest,
          where: after === undefined ? 'first' : 'second',
          signal,
        })
  return {
    title: `Changes of ${name}`,
    heading: html`Changes of ${outside(name)}`,
    crumbs: [accountCrumb(view), { label: 'Compare', href: compareAddress(sides) }],
    body: html`${sidesLine(library, sides, id)}
${versionLinks(sides, { before, after }, id)}
${
  restore &&
  html`<div class="actions">${before && versionButton(restore, sides.before, { id, which: 'first' })}
${after && versionButton(restore, sides.after, { id, which: 'second' })}</div>`
}
${content}
<h2>Compare others</h2>
${sidesForm(library, {
  from: { view: sides.before.view, chosen: sides.before.reference },
  to: { view: sides.after.view, chosen: sides.after.reference },
  id,
})}`,
    command: compareCommand(sides, id),
  }
}

interface Versions {
  readonly before: FoundObject | undefined
  readonly after: FoundObject | undefined
}

/** Where each version and all others are. The service has no page of its own. */
function versionLinks(sides: Sides, { before, after }: Versions, id: string): Markup {
  const link = (side: Side, object: FoundObject | undefined, label: string) =>
    object !== undefined &&
    side.exportedAt === undefined &&
    html`<li><a href="${objectPath(placeOf(side), id)}">${label}</a></li>`
  const { accountId } = sides.before.view
  return html`<ul class="actions">
${link(sides.before, before, 'First version')}
${link(sides.after, after, 'Second version')}
<li><a href="${versionsPath(accountId, id)}">All versions</a></li>
</ul>`
}

/** Puts a version into the basket. The service is no version that can be restored. */
function versionButton(
  restore: RestoreControls,
  side: Side,
  { id, which }: { id: string; which: string },
): Markup | undefined {
  if (side.exportedAt !== undefined) return undefined
  const object = { ...placeOf(side), id }
  const label = `Put the ${which} version into the basket`
  return basketButton(restore, side.manifest.account, [object], label)
}

async function twoVersions(
  library: Library,
  sides: Sides,
  { before, after, signal }: { before: FoundObject; after: FoundObject; signal: AbortSignal },
): Promise<Markup> {
  const type = splitId(after.id)?.type ?? after.type
  const diff = diffHits(before.bytes, after.bytes, type)
  if (isDashboard(after)) {
    const read = { ...library.read, signal }
    const isNamed = sides.before.view.accountId !== sides.after.view.accountId
    return dashboardChanges({
      before: await readDashboard(sides.before, { object: before, read }),
      after: await readDashboard(sides.after, { object: after, read }),
      labels: {
        before: sideLabel(sides.before, isNamed),
        after: sideLabel(sides.after, isNamed),
      },
      diff,
      linkTo: (id) => compareAddress(sides, { id }),
    })
  }
  return html`<h2>Differences</h2>
${Buffer.compare(before.bytes, after.bytes) === 0 ? html`<p>None.</p>` : objectDifferences(diff)}`
}

/** An object that one side alone holds. */
async function oneVersion(
  library: Library,
  side: Side,
  { object, where, signal }: { object: FoundObject; where: string; signal: AbortSignal },
): Promise<Markup> {
  const read = { ...library.read, signal }
  const drawing =
    isDashboard(object) &&
    dashboardDrawing(
      await readDashboard(side, { object, read }),
      side.exportedAt === undefined ? placeOf(side) : undefined,
    )
  return html`<p class="notice">Only the ${where} side holds this object.</p>
${drawing}`
}
