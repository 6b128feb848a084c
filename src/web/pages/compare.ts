import { html } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { diffHits } from '../../objects/diff-objects.ts'
import { splitId } from '../../objects/object-id.ts'
import { formatTime } from '../../wording.ts'
import type { FoundObject } from '../find-object.ts'
import type { Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import { address, commandLine, outside } from '../markup.ts'
import { dashboardComparison, isDashboard, readDashboard } from './dashboard.ts'

/** A version of an object, in a snapshot of the account. */
export interface Version {
  readonly manifest: Manifest
  readonly object: FoundObject
}

/** What differs between two versions of an object; for dashboards as drawings, too. */
export async function comparePage(
  library: Library,
  view: AccountView,
  { before, after, signal }: { before: Version; after: Version; signal: AbortSignal },
): Promise<Page> {
  const { id, type, title } = after.object
  const name = title?.trim() ? title : id
  const lines = library.describe(
    diffHits(before.object.bytes, after.object.bytes, splitId(id)?.type ?? type),
  )
  const [older, newer] = [before.manifest.snapshot, after.manifest.snapshot]
  const path = `/accounts/${view.accountId}`
  const link = ({ manifest, object }: Version) =>
    html`<a href="${address(`${path}/snapshots/${manifest.snapshot}/object`, { id: object.id })}">${timeOf(manifest)}</a>`
  const drawn =
    isDashboard(after.object) &&
    dashboardComparison(
      await readDashboard(library, before.manifest, { object: before.object, signal }),
      await readDashboard(library, after.manifest, { object: after.object, signal }),
      { before: timeOf(before.manifest), after: timeOf(after.manifest) },
    )
  return {
    title: `Changes of ${name}`,
    heading: html`Changes of ${outside(name)}`,
    crumbs: [
      { label: 'Accounts', href: '/' },
      { label: view.name, href: path },
      { label: 'Versions', href: address(`${path}/history`, { id }) },
    ],
    body: html`<p>From ${link(before)} to ${link(after)}</p>
${drawn}
<h2>Differences</h2>
${
  lines.length > 0
    ? html`<ul class="diff">${lines.map((line) => html`<li>${outside(line, 1000)}</li>`)}</ul>`
    : html`<p>None.</p>`
}`,
    command: commandLine('diff', older, newer, '--object', id, '--account', view.accountId),
  }
}

function timeOf({ takenAt }: Manifest): string {
  return `${formatTime(new Date(takenAt))} UTC`
}
