import { html } from 'hono/html'
import { plural } from '../wording.ts'
import { snapshotPath } from './addresses.ts'
import type { SnapshotLine } from './library.ts'
import { type Markup, signOf, stateLabel } from './markup.ts'

/** What a day, or a snapshot, looks like: the worst of a day counts. */
type DayState = 'damaged' | 'suspect' | 'changed' | 'unchanged'

const words: Record<DayState, string> = {
  damaged: 'damaged',
  suspect: 'suspect',
  changed: 'changed',
  unchanged: 'unchanged',
}
const worstFirst = Object.keys(words) as DayState[]

/** Judges one snapshot for the calendar. Pure. */
export function dayStateOf({ manifest, defect }: SnapshotLine): DayState {
  if (manifest === undefined || defect !== undefined) return 'damaged'
  if (manifest.suspect !== undefined) return 'suspect'
  const { changes, sameAs } = manifest
  if (sameAs !== undefined) return 'unchanged'
  const isChanged = Object.values(changes ?? {}).some(
    ({ added, removed, changed }) => added + removed + changed > 0,
  )
  return isChanged || changes === undefined ? 'changed' : 'unchanged'
}

/**
 * The months of a year from its last to its first snapshot, given oldest first. Each day leads to its
 * newest snapshot, or to the newest of those that are suspect or damaged.
 */
export function calendar(year: number, snapshots: readonly SnapshotLine[]): Markup {
  const days = Map.groupBy(snapshots, ({ folder }) => folder.takenAt.toISOString().slice(0, 10))
  const first = snapshots[0]?.folder.takenAt.getUTCMonth() ?? 0
  const last = snapshots.at(-1)?.folder.takenAt.getUTCMonth() ?? first
  const months = Array.from({ length: last - first + 1 }, (_, place) =>
    monthTable(year, last - place, days),
  )
  return html`<div class="calendar">${months}</div>
<p class="legend">${worstFirst.toReversed().map((state) => stateLabel(state, words[state]))} <span class="age">no frame: no snapshot</span></p>`
}

type Days = ReadonlyMap<string, readonly SnapshotLine[]>

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const monthNames = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' })

function monthTable(year: number, month: number, days: Days): Markup {
  const first = new Date(Date.UTC(year, month, 1))
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  // Weeks begin on Monday.
  const offset = (first.getUTCDay() + 6) % 7
  const cells = Array.from({ length: Math.ceil((offset + length) / 7) * 7 }, (_, place) => {
    const day = place - offset + 1
    if (day < 1 || day > length) return html`<td></td>`
    return dayCell(day, days.get(new Date(Date.UTC(year, month, day)).toISOString().slice(0, 10)))
  })
  const weeks = Array.from({ length: cells.length / 7 }, (_, week) => {
    return html`<tr>${cells.slice(week * 7, week * 7 + 7)}</tr>`
  })
  const heads = weekdays.map((name) => {
    return html`<th scope="col"><abbr title="${name}">${name.slice(0, 2)}</abbr></th>`
  })
  return html`<table class="month"><caption>${monthNames.format(first)} ${year}</caption><thead><tr>${heads}</tr></thead><tbody>${weeks}</tbody></table>`
}

function dayCell(day: number, snapshots: readonly SnapshotLine[] | undefined): Markup {
  const newest = snapshots?.at(-1)
  if (snapshots === undefined || newest === undefined)
    return html`<td><span class="day">${day}</span></td>`
  const states = new Set(snapshots.map(dayStateOf))
  const state = worstFirst.find((one) => states.has(one)) ?? 'unchanged'
  const target = snapshots.findLast((one) => dayStateOf(one) === state) ?? newest
  const label = `${words[state]}, ${plural(snapshots.length, 'snapshot')}`
  return html`<td><a class="day ${state}" href="${snapshotPath(target.folder)}" title="${label}">${day}${signOf(state)}<span class="hidden"> ${label}</span></a></td>`
}
