import { html } from 'hono/html'
import { plural } from '../../../wording.ts'
import { objectPath, snapshotPath } from '../../addresses.ts'
import { accountCrumb, type Page } from '../../layout.ts'
import {
  ageOf,
  dataTable,
  facts,
  type Markup,
  objectLink,
  outside,
  stateLabel,
  timeOf,
  timeWithAge,
} from '../../markup.ts'
import type { EndedObject, JobEnd, RestoreJob, SentEnd } from '../registry.ts'
import { commandOf, type RestoreRequest, writeRequest } from '../request.ts'

/** Seconds between two looks at a running restore. */
const REFRESH_SECONDS = 2

/** The restores since the server began. */
export function restoresPage(jobs: readonly RestoreJob[], now: Date): Page {
  const rows = jobs.map((job) => [
    html`<a href="/restores/${job.id}">${timeOf(job.startedAt)}</a> ${ageOf(job.startedAt, now)}`,
    outside(job.accountName),
    html`<a href="${snapshotPath(job)}">${job.snapshot}</a>`,
    outside(job.user),
    stateOf(job),
    resultOf(job),
  ])
  const columns = ['Started', 'Account', 'Snapshot', 'User', 'State', 'Result']
  return {
    title: 'Restores',
    crumbs: [],
    body:
      rows.length === 0
        ? html`<p class="notice">Nobody has restored anything since this server was started.</p>`
        : dataTable(
            'Restores since this server was started, newest first',
            columns.map((name) => ({ name })),
            rows,
          ),
  }
}

/** For an address that no restore has: the server forgets restores when it ends. */
export function unknownRestorePage(): Page {
  return {
    title: 'Not found',
    crumbs: [{ label: 'Restores', href: '/restores' }],
    body: html`<p class="notice suspect">This server does not know the restore. It keeps the last 100 until it ends. If the server was started again while the restore ran, the restore was interrupted.</p>
<p>To see which objects were sent, <a href="/compare">compare the snapshot with the service</a>, or run <code>dashkeep diff</code>. Then plan again.</p>`,
  }
}

/** A restore: its progress while it runs, and then its result. */
export function restorePage(job: RestoreJob, now: Date): Page {
  const { end, takenAt, snapshot, accountId, accountName, request } = job
  const names = request.objects === 'all' ? undefined : request.objects
  return {
    title: `Restore into ${accountName}`,
    heading: html`Restore into ${outside(accountName)}`,
    crumbs: [
      accountCrumb({ accountId, name: accountName }),
      { label: 'Restores', href: '/restores' },
    ],
    refreshSeconds: end === undefined ? REFRESH_SECONDS : undefined,
    body: html`${facts([
      ['Account', html`${outside(accountName)} (${accountId})`],
      ['Snapshot', html`<a href="${snapshotPath(job)}">${snapshot}</a>`],
      ['Taken', timeWithAge(takenAt, now)],
      ['Confirmed by', outside(job.user)],
      ['Started', timeOf(job.startedAt)],
      ['Ended', end && timeOf(end.endedAt)],
      ['State', stateOf(job)],
    ])}
${end === undefined ? progressOf(job) : endOf(job, end)}`,
    // The objects of a basket are not kept.
    ...(names !== 'basket' && { command: commandOf(job, request, names) }),
  }
}

function planPath(job: RestoreJob, changes: Partial<RestoreRequest> = {}): string {
  return `${snapshotPath(job)}/restore?${writeRequest({ ...job.request, ...changes })}`
}

/** How each end looks and is called. */
const looks: Record<JobEnd['kind'], readonly [state: string, word: string]> = {
  done: ['good', 'restored'],
  partly: ['suspect', 'partly restored'],
  failed: ['damaged', 'failed'],
  interrupted: ['damaged', 'interrupted'],
  refused: ['damaged', 'refused'],
  changed: ['suspect', 'not started, the service has changed'],
}

function stateOf({ end }: RestoreJob): Markup {
  return end ? stateLabel(...looks[end.kind]) : stateLabel('running')
}

function resultOf({ end, progress }: RestoreJob): string {
  if (end === undefined) return `${progress.sent} of ${progress.total} sent`
  if (end.kind === 'changed' || end.kind === 'refused') return 'nothing was sent'
  const { restored, total, left, notSent } = end
  const result =
    restored === undefined
      ? `${total - notSent} of ${plural(total, 'object')} sent, not checked`
      : `${restored} of ${plural(total, 'object')} restored`
  return left > 0 ? `${result}, ${left} not overwritten` : result
}

function progressOf({ progress: { step, sent, total } }: RestoreJob): Markup {
  const current =
    step === 'sending' && sent === total ? 'checking' : (step as (typeof steps)[number][0])
  const place = steps.findIndex(([name]) => name === current)
  const items = steps.map(([, label], nth) => {
    if (nth === place) return html`<li class="current" aria-current="step">${label}</li>`
    return html`<li class="${nth < place ? 'past' : ''}">${label}</li>`
  })
  return html`<div role="status" data-poll="${REFRESH_SECONDS}" data-lost="${LOST}"><ol class="steps">${items}</ol>
${step === 'sending' && html`<p><label>Sent <progress max="${total}" value="${sent}">${sent} of ${total}</progress> ${sent} of ${plural(total, 'object')}</label></p>`}</div>
<p class="hint">This page loads itself again until the restore has ended. The restore goes on when you leave the page.</p>`
}

const LOST =
  'The server does not answer, or does not know this restore any more. The progress shown is the last one known. If the server has ended, the restore was interrupted. To see which objects were sent, compare the snapshot with the service, on the page Compare or with `dashkeep diff`.'

const steps = [
  ['reading', 'Read the service again and compare the plan'],
  ['backing up', 'Take a snapshot of the present objects, if some are overwritten'],
  ['sending', 'Send the objects'],
  ['checking', 'Check the result with a fresh export'],
] as const

function endOf(job: RestoreJob, end: JobEnd): Markup {
  if (end.kind === 'changed') {
    return html`<p class="notice suspect">The service has changed since the plan was shown. Nothing was sent. <a href="${planPath(job)}">Show the new plan</a></p>`
  }
  if (end.kind === 'refused') {
    return html`<div class="notice damaged"><p>${outside(end.message, 2000)}</p>${hintLine(end.hint)}<p>Nothing was sent. <a href="${planPath(job)}">Plan again</a></p></div>`
  }
  return html`${summary(job, end)}
${end.errors.map(({ message, hint }) => html`<div class="notice damaged"><p>${outside(message, 2000)}</p>${hintLine(hint)}</div>`)}
${namesUnder('Reported as failed by the service', end.failed)}
${namesUnder('Ignored by the service, because it already has an object with this id', end.ignored)}
${objectTable(job, end)}`
}

function namesUnder(heading: string, names: readonly string[]): Markup | undefined {
  if (names.length === 0) return undefined
  return html`<h2>${heading}</h2><ul class="needs">${names.map((name) => html`<li>${outside(name)}</li>`)}</ul>`
}

function hintLine(hint: string | undefined): Markup | undefined {
  return hint === undefined ? undefined : html`<p>Hint: ${outside(hint, 2000)}</p>`
}

function summary(
  job: RestoreJob,
  { kind, total, left, same, restored, notSent, before, unchecked }: SentEnd,
): Markup {
  const checked =
    restored === undefined
      ? html`Sent ${total - notSent} of ${plural(total, 'object')}. The result was not checked${unchecked !== undefined && html`: ${outside(unchecked, 2000)}`}.`
      : html`Restored ${restored} of ${plural(total, 'object')}, confirmed by a fresh export.`
  const rest =
    kind !== 'done' && html`<p><a href="${planPath(job)}">Plan again</a> to finish the restore.</p>`
  return html`<div class="notice ${looks[kind][0]}"><p>${checked}</p>
${notSent > 0 && html`<p>${plural(notSent, 'object')} not sent.</p>`}
${left > 0 && html`<p>Left: ${plural(left, 'object')}, different in the service and not overwritten. <a href="${planPath(job, { overwrite: true })}">Plan again with “Overwrite”</a> to replace what was left.</p>`}
${same > 0 && html`<p>Identical in the service before: ${plural(same, 'object')}.</p>`}
${before !== undefined && html`<p>Snapshot <a href="${snapshotPath({ ...job, snapshot: before })}">${before}</a> holds the objects from before the restore.</p>`}
${rest}</div>`
}

const outcomes: Record<EndedObject['outcome'], readonly [state: string, word: string]> = {
  restored: ['good', 'restored'],
  differs: ['suspect', 'is different in the service'],
  absent: ['damaged', 'is missing in the service'],
  unknown: ['suspect', 'not checked'],
  left: ['suspect', 'is different in the service, not overwritten'],
}

function objectTable(job: RestoreJob, { objects, total, left }: SentEnd): Markup {
  const rows = objects.map(({ id, title, action, outcome }) => {
    const link = objectLink({ id, title }, objectPath(job, id))
    return [link, action, stateLabel(...outcomes[outcome])]
  })
  const all = total + left
  const shown = objects.length < all ? `, the first ${objects.length} of them shown` : ''
  const columns = ['Title', 'Action', 'Result'].map((name) => ({ name }))
  return html`<h2>Objects</h2>${dataTable(`${plural(all, 'object')}${shown}`, columns, rows)}`
}
