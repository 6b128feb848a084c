import { html } from 'hono/html'
import { cleanLine } from '../../../clean-text.ts'
import { objectsToSend, type PlannedObject, type RestoreAction } from '../../../restore/plan.ts'
import { digestOf, type PreparedRestore } from '../../../run/restore-to-service.ts'
import { plural } from '../../../wording.ts'
import { objectPath, snapshotPath } from '../../addresses.ts'
import { accountCrumb, type Page } from '../../layout.ts'
import type { Library } from '../../library.ts'
import {
  dataTable,
  facts,
  hiddenCaption,
  type Markup,
  objectLink,
  outside,
  timeWithAge,
} from '../../markup.ts'
import type { FoundSnapshot } from '../../requests.ts'
import { hiddenFields, type RestoreControls } from '../controls.ts'
import { commandOf, type RestoreRequest, writeRequest } from '../request.ts'
import { needsSection } from './needs.ts'
import { optionsForm } from './options.ts'
import { overwriteSections } from './overwrites.ts'

/** Rows of a table. */
const MAX_ROWS = 500

/** What a plan is shown for. */
export interface PlanQuestion {
  readonly found: FoundSnapshot
  readonly request: RestoreRequest
  /** The objects by id; undefined for all. */
  readonly names: readonly string[] | undefined
  readonly restore: RestoreControls
  /** What the reader must know before anything else. */
  readonly notices: readonly Markup[]
}

/** The plan of a restore, with the form that confirms it. Without a `key` it cannot be confirmed. */
export async function planPage(
  library: Library,
  question: PlanQuestion,
  {
    prepared,
    key,
    signal,
  }: { prepared: PreparedRestore; key: string | undefined; signal: AbortSignal },
): Promise<Page> {
  const { plan } = prepared
  const total = objectsToSend(plan).length
  const left = plan.objects.filter(({ action }) => action === 'leave').length
  return planFrame(
    library,
    question,
    html`${targetFacts(prepared)}
${versionTable(prepared)}
<h2>What the restore does</h2>
${actionTables(question, plan.objects)}
${await overwriteSections(library, question.found, { prepared, signal })}
${needsSection(prepared)}
${optionsForm(question.found, question.request)}
${total === 0 ? html`<p class="notice">Nothing to send.${left > 0 && html` To replace ${plural(left, 'object')}, switch on “Overwrite” and plan again.`}</p>` : key !== undefined && confirmForm(question, prepared, key)}`,
  )
}

/** The plan page when there is no plan: the reason, and the form to change the request. */
export function refusedPlanPage(library: Library, question: PlanQuestion): Page {
  return planFrame(library, question, optionsForm(question.found, question.request))
}

function planFrame(library: Library, question: PlanQuestion, body: Markup): Page {
  const { view, line } = question.found
  const { accountId, snapshot } = line.folder
  const path = snapshotPath(line.folder)
  return {
    title: `Plan to restore into ${view.name}`,
    heading: html`Plan to restore into ${outside(view.name)}`,
    crumbs: [
      accountCrumb(view),
      { label: `Snapshot ${snapshot}`, href: path },
      { label: 'Basket', href: '/basket' },
    ],
    body: html`${facts([
      ['Account', html`${outside(view.name)} (${accountId})`],
      ['Snapshot', html`<a href="${path}">${snapshot}</a>`],
      ['Taken', timeWithAge(line.folder.takenAt, library.now())],
      ['Chosen', question.names === undefined ? 'all objects' : question.names.length],
    ])}
${question.notices}
${body}`,
    command: commandOf(line.folder, question.request, question.names),
  }
}

function targetFacts({ into: { account, address } }: PreparedRestore): Markup {
  return html`<p>Into account ${account.accountId} (${outside(account.accountName)}) at ${outside(address)}. The service was read for this page.</p>`
}

function versionTable({ restoring, present }: PreparedRestore): Markup {
  const { source, selection } = restoring
  const types = new Set(selection.objects.map(({ exportType }) => exportType))
  const rows = source.exports
    .filter(({ type }) => types.has(type))
    .map(({ type, kibanaVersion }) => {
      const now = present.kibanaVersions.get(type) ?? ''
      return [
        type,
        outside(kibanaVersion),
        outside(now),
        now === kibanaVersion ? 'same' : html`<strong>different</strong>`,
      ]
    })
  const columns = ['Type', 'Snapshot', 'Service', 'Comparison'].map((name) => ({ name }))
  return html`<h2>Kibana versions</h2>${dataTable(hiddenCaption('Versions by type'), columns, rows)}`
}

const actions: readonly [action: RestoreAction, sign: string, heading: string][] = [
  ['create', '+', 'Create: not in the service'],
  ['overwrite', '~', 'Overwrite: different in the service'],
  ['leave', '=', 'Leave: different in the service and not overwritten'],
  ['same', '✓', 'Same: identical in the service'],
]

function actionTables(question: PlanQuestion, objects: readonly PlannedObject[]): Markup {
  const named = new Set(question.names)
  const { folder } = question.found.line
  return html`${actions.map(([action, sign, heading]) => {
    const of = objects.filter((planned) => planned.action === action)
    if (of.length === 0) return ''
    const isNamed = ({ entry }: PlannedObject) =>
      question.names === undefined || named.has(entry.id)
    const ordered = of.toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one)))
    const rows = ordered
      .slice(0, MAX_ROWS)
      .map((planned) => [
        objectLink(planned.entry, objectPath(folder, planned.entry.id)),
        planned.entry.exportType,
        isNamed(planned) ? 'chosen' : 'needed',
      ])
    const shown = of.length > MAX_ROWS ? `, the first ${MAX_ROWS} of them shown` : ''
    const columns = ['Title', 'Type', 'Why'].map((name) => ({ name }))
    const table = dataTable(`${plural(of.length, 'object')}${shown}`, columns, rows)
    const title = html`<span class="sign" aria-hidden="true">${sign}</span> ${heading} (${of.length})`
    return action === 'same'
      ? html`<details class="plan-${action}"><summary>${title}</summary>${table}</details>`
      : html`<section class="plan-${action}"><h3>${title}</h3>${table}</section>`
  })}`
}

function confirmForm(
  { found: { view, line }, restore, request }: PlanQuestion,
  prepared: PreparedRestore,
  key: string,
): Markup {
  const { folder } = line
  const toSend = objectsToSend(prepared.plan)
  const overwritten = toSend.filter(({ action }) => action === 'overwrite').length
  const action = `${snapshotPath(folder)}/restore/start`
  const fields = { key, digest: digestOf(prepared), request: String(writeRequest(request)) }
  return html`<form method="post" action="${action}" class="confirm">
${hiddenFields(restore, fields)}
<fieldset><legend>Restore ${plural(toSend.length, 'object')} into ${outside(view.name)}</legend>
<p>${overwritten > 0 ? `First, a snapshot of the present objects is taken, because ${plural(overwritten, 'object')} will be overwritten.` : 'Nothing is overwritten, so no snapshot is taken first.'} Before it sends, the server reads the service again. If the plan has changed, nothing is sent.</p>
<label>To confirm, type <strong>${outside(confirmationOf(view))}</strong> <input name="name" required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="300"></label>
<button>Restore ${plural(toSend.length, 'object')}</button>
</fieldset>
</form>`
}

/** What a reader types to confirm: the name of the account, or its id when nobody can type the name. */
function confirmationOf({ name, accountId }: { name: string; accountId: number }): string {
  const shown = cleanLine(name, 100).trim()
  return shown === name.trim() && shown !== '' ? shown : String(accountId)
}

/** Whether a reader has typed what confirms a restore. */
export function isConfirmed(
  account: { name: string; accountId: number },
  typed: string | null,
): boolean {
  // A page shows several spaces as one.
  const plain = (text: string) => text.normalize('NFC').trim().replace(/\s+/g, ' ')
  return plain(typed ?? '') === plain(confirmationOf(account))
}

/** For a link from another site: only a page of this server makes the service export its objects. */
export function linkedPlanPage(path: string): Page {
  return {
    title: 'Plan a restore',
    body: html`<p>A link from another site led here. The plan exports the present objects of the account.</p>
<p><a class="button" href="${path}">Show the plan</a></p>`,
  }
}
