import { html } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { escapeHidden } from '../../clean-text.ts'
import { parseLossless, stringifyLossless } from '../../objects/lossless-json.ts'
import { openNested } from '../../objects/open-nested.ts'
import type { ObjectEntry } from '../../restore/catalogue.ts'
import { formatBytes } from '../../wording.ts'
import { address, objectPath, type SnapshotName, snapshotPath, versionsPath } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import type { FoundObject } from '../find-object.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import { facts, type Markup, nameOf, outside, timeWithAge } from '../markup.ts'
import { basketButton, type RestoreControls } from '../restore/controls.ts'
import { dashboardDrawing, isDashboard, readDashboard } from './dashboard.ts'
import { objectView } from './object-view.ts'

/** Characters of opened JSON on a page; the raw object has no limit. */
const MAX_JSON = 400_000

/** An object of a snapshot: its opened JSON, what it needs and what needs it. */
export async function objectPage(
  library: Library,
  {
    view,
    manifest,
    object,
    signal,
    restore,
  }: {
    view: AccountView
    manifest: Manifest
    object: FoundObject
    signal: AbortSignal
    restore?: RestoreControls | undefined
  },
): Promise<Page> {
  const { id, type, bytes } = object
  const { snapshot } = manifest
  const { accountId } = view
  const place = { accountId, snapshot }
  const path = snapshotPath(place)
  const name = nameOf(object)
  const taken = view.folders.find((folder) => folder.snapshot === snapshot)?.takenAt
  const entries = await library.catalogue(manifest)
  const side = { store: library.store, manifest }
  const content = isDashboard(object)
    ? dashboardDrawing(
        await readDashboard(side, { object, read: { ...library.read, signal } }),
        place,
      )
    : objectView(object, place)
  return {
    title: name,
    heading: outside(name),
    crumbs: [accountCrumb(view), { label: `Snapshot ${snapshot}`, href: path }],
    body: html`${facts([
      ['Type', type],
      ['Id', html`<code>${outside(id)}</code>`],
      ['As of', taken && timeWithAge(taken, library.now())],
      ['Size', formatBytes(bytes.length)],
    ])}
<ul class="actions">
<li><a href="${versionsPath(accountId, id)}">All versions</a></li>
<li><a href="${address(`${path}/object/raw`, { id })}">Raw JSON</a></li>
<li><a href="${address(`${path}/object/download`, { id })}">Download</a></li>
</ul>
${basketButton(restore, manifest.account, [{ ...place, id }])}
<div class="beside">
<div>${content}</div>
${relations(place, entries, id)}
</div>
<h2>Content</h2>
<p class="hint">Nested JSON is opened. The raw JSON is what the service sent, byte for byte.</p>
${openedJson(bytes)}`,
    command: commandLine(
      'cat',
      { given: id },
      '--open',
      '--snapshot',
      snapshot,
      '--account',
      accountId,
    ),
  }
}

function relations(place: SnapshotName, entries: readonly ObjectEntry[], id: string): Markup {
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const needs = byId.get(id)?.references ?? []
  const needed = needs.map(({ type, id: objectId }) => `${type}:${objectId}`)
  const users = entries.filter(({ references }) =>
    references.some(({ type, id: objectId }) => `${type}:${objectId}` === id),
  )
  const link = (target: string) => {
    const entry = byId.get(target)
    if (entry === undefined)
      return html`<li><code>${outside(target)}</code> <span class="age">not in this snapshot</span></li>`
    return html`<li><a href="${objectPath(place, target)}">${outside(nameOf(entry))}</a> <span class="age">${entry.exportType}</span></li>`
  }
  const list = (targets: readonly string[]) =>
    targets.length === 0 ? html`<p>Nothing.</p>` : html`<ul>${[...new Set(targets)].map(link)}</ul>`
  return html`<div class="relations">
<section aria-labelledby="needs"><h2 id="needs">What it needs</h2>${list(needed)}</section>
<section aria-labelledby="users"><h2 id="users">What needs it</h2>${list(users.map((entry) => entry.id))}</section>
</div>`
}

function openedJson(bytes: Uint8Array): Markup {
  const hit = openNested(parseLossless(Buffer.from(bytes).toString()))
  const text = escapeHidden(stringifyLossless(hit, 2))
  const cut =
    text.length > MAX_JSON &&
    html`<p class="notice">Only the first ${formatBytes(MAX_JSON)} are shown. The raw JSON has everything.</p>`
  return html`${cut}<pre class="json" tabindex="0" aria-label="Opened JSON"><code>${text.slice(0, MAX_JSON)}</code></pre>`
}
