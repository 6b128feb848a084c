import { html } from 'hono/html'
import { type HistoryEvent, readHistory } from '../../archive/history.ts'
import { readTimeline } from '../../archive/timeline.ts'
import { diffHits } from '../../objects/diff-objects.ts'
import { splitId } from '../../objects/object-id.ts'
import { plural } from '../../wording.ts'
import { address, objectPath, snapshotPath } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import {
  ageOf,
  dataTable,
  type Markup,
  nameOf,
  outside,
  stateLabel,
  timeOf,
  unreadableNotice,
} from '../markup.ts'

/**
 * All versions of an object, newest first; undefined when no snapshot holds it. `isFound` is false when
 * only a snapshot that cannot be read could hold it.
 */
export async function historyPage(
  library: Library,
  view: AccountView,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<(Page & { readonly isFound: boolean }) | undefined> {
  const { store, read } = library
  const timeline = await readTimeline(store, view.past, { signal })
  const problems = new Set(timeline.unreadable.map(({ message }) => message))
  const type = splitId(id)?.type ?? ''
  const options = {
    ...read,
    signal,
    onUnreadable: ({ message }: Error) => void problems.add(message),
  }
  const rows: { event: HistoryEvent; lines: readonly string[] }[] = []
  for await (const event of readHistory(timeline, { id, type }, options)) {
    rows.push({ event: withoutBytes(event), lines: describe(library, event, type) })
  }
  if (rows.length === 0 && problems.size === 0) return undefined
  const isFound = rows.length > 0
  const newest = rows.findLast(({ event }) => event.after !== undefined)?.event.after?.title
  const title = nameOf({ title: newest, id })
  return {
    isFound,
    title: `Versions of ${title}`,
    heading: html`Versions of ${outside(title)}`,
    crumbs: [accountCrumb(view)],
    body: html`<p><code>${outside(id)}</code> in ${plural(timeline.snapshots, 'snapshot')}</p>
${unreadableNotice([...problems])}
${isFound ? eventTable(view, rows.toReversed(), { id, now: library.now() }) : html`<p class="notice">No snapshot that can be read holds this object.</p>`}`,
    command: commandLine('history', { given: id }, '--patch', '--account', view.accountId),
  }
}

/** Holds the titles alone: the versions of a year are too much for the memory. */
function withoutBytes({ before, after, ...event }: HistoryEvent): HistoryEvent {
  const none = new Uint8Array()
  return {
    ...event,
    before: before && { ...before, bytes: none },
    after: after && { ...after, bytes: none },
  }
}

function describe(
  library: Library,
  { kind, before, after, problem }: HistoryEvent,
  type: string,
): readonly string[] {
  if (problem !== undefined) return [problem]
  if (kind === 'disappeared' || before === undefined || after === undefined) return []
  return library.describe(diffHits(before.bytes, after.bytes, type))
}

function eventTable(
  view: AccountView,
  rows: readonly { event: HistoryEvent; lines: readonly string[] }[],
  { id, now }: { id: string; now: Date },
): Markup {
  const looks: Record<HistoryEvent['kind'], string> = {
    appeared: 'added',
    returned: 'added',
    changed: 'changed',
    renamed: 'changed',
    disappeared: 'removed',
    unreadable: 'damaged',
  }
  const cells = rows.map(({ event, lines }, nth) => {
    const { kind, snapshot, takenAt, suspect, after } = event
    const holds = kind !== 'disappeared' && kind !== 'unreadable'
    const place = { accountId: view.accountId, snapshot }
    const href = holds ? objectPath(place, id) : snapshotPath(place)
    const older = rows.slice(nth + 1).find((row) => row.event.after !== undefined)
    const compare =
      holds &&
      older &&
      address('/compare', {
        from: `${view.accountId}/${older.event.snapshot}`,
        to: `${view.accountId}/${snapshot}`,
        id,
      })
    return [
      html`<a href="${href}">${timeOf(takenAt)}</a> ${ageOf(takenAt, now)}`,
      html`${stateLabel(looks[kind], kind)}${suspect && html` <span class="age">suspect snapshot</span>`}`,
      after && outside(after.title ?? '(no title)'),
      lines.length > 0
        ? html`<ul class="diff">${lines.map((line) => html`<li>${outside(line, 1000)}</li>`)}</ul>`
        : '',
      compare ? html`<a href="${compare}">Compare with the version before</a>` : '',
    ]
  })
  const columns = [
    { name: 'Since' },
    { name: 'Event' },
    { name: 'Title' },
    { name: 'Differences' },
    { name: 'Compare' },
  ]
  return dataTable('Versions, newest first', columns, cells)
}
