import { html } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { escapeHidden } from '../../clean-text.ts'
import { parseLossless, stringifyLossless } from '../../objects/lossless-json.ts'
import { openNested } from '../../objects/open-nested.ts'
import type { ObjectEntry } from '../../restore/catalogue.ts'
import { formatBytes } from '../../wording.ts'
import type { FoundObject } from '../find-object.ts'
import type { Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import { address, commandLine, facts, type Markup, outside, timeWithAge } from '../markup.ts'
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
  const { id, type, title, bytes } = object
  const { snapshot } = manifest
  const path = `/accounts/${view.accountId}/snapshots/${snapshot}`
  const name = title?.trim() ? title : id
  const taken = view.folders.find((folder) => folder.snapshot === snapshot)?.takenAt
  const entries = await library.catalogue(manifest)
  const drawing =
    isDashboard(object) &&
    dashboardDrawing(
      await readDashboard(
        { store: library.store, manifest },
        { object, read: { ...library.read, signal } },
      ),
      path,
    )
  return {
    title: name,
    heading: outside(name),
    crumbs: [
      { label: 'Accounts', href: '/' },
      { label: view.name, href: `/accounts/${view.accountId}` },
      { label: `Snapshot ${snapshot}`, href: path },
    ],
    body: html`${facts([
      ['Type', type],
      ['Id', html`<code>${outside(id)}</code>`],
      ['As of', taken && timeWithAge(taken, library.now())],
      ['Size', formatBytes(bytes.length)],
    ])}
<ul class="actions">
<li><a href="${address(`/accounts/${view.accountId}/history`, { id })}">All versions</a></li>
<li><a href="${address(`${path}/object/raw`, { id })}">Raw JSON</a></li>
<li><a href="${address(`${path}/object/download`, { id })}">Download</a></li>
</ul>
${basketButton(restore, manifest.account, [{ accountId: view.accountId, snapshot, id }])}
${drawing || objectView(object, path)}
${relations(path, entries, id)}
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
      view.accountId,
    ),
  }
}

function relations(path: string, entries: readonly ObjectEntry[], id: string): Markup {
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
    const href = address(`${path}/object`, { id: target })
    return html`<li><a href="${href}">${outside(entry.title?.trim() ? entry.title : target)}</a> <span class="age">${entry.exportType}</span></li>`
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
