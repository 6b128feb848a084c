import type {
  InsideChange,
  LayoutComparison,
  PanelChange,
  PanelPair,
} from '../../objects/compare-layouts.ts'
import type { DashboardPanel } from '../../objects/dashboard-layout.ts'
import { statedPlaceOf } from '../../objects/diff-objects.ts'
import { describeMove } from '../../objects/name-difference.ts'

/** The sign of each change, in the order in which they are listed. */
export const changeSigns: Readonly<Record<PanelChange, string>> = {
  removed: '−',
  added: '+',
  moved: '↔',
  resized: '⤢',
  changed: '✎',
}

const changeWords: Readonly<Record<PanelChange, string>> = {
  removed: 'removed',
  added: 'added',
  moved: 'moved',
  resized: 'resized',
  changed: 'changed inside',
}

const insideWords: Readonly<Record<InsideChange, string>> = {
  object: 'it shows another object',
  content: 'the object that it shows differs',
  presence: 'the object that it shows is in one of the snapshots only',
  settings: 'its own settings differ',
}

/**
 * What happened to a panel, in words, such as `moved from column 0, row 8 to column 24, row 0`. Places are
 * in the numbers of the dashboard, or on the grid of 48 columns when the versions count differently.
 */
export function describeChanges({ changes, inside, before, after }: PanelPair): string {
  if (before === undefined || after === undefined) {
    return changes.map((change) => changeWords[change]).join(', ')
  }
  const move = describeStatedMove(before, after) || describeMove(before.place, after.place)
  const reasons = inside.map((one) => insideWords[one]).join(', ')
  return [
    ...(changes.includes('moved') || changes.includes('resized') ? [move] : []),
    ...(changes.includes('changed') ? [`${changeWords.changed} (${reasons})`] : []),
  ].join(', ')
}

function describeStatedMove(before: DashboardPanel, after: DashboardPanel): string | undefined {
  const [one, other] = [statedPlaceOf(before.stored), statedPlaceOf(after.stored)]
  return one && other && one.grid === other.grid ? describeMove(one.place, other.place) : undefined
}

/** The changes that a comparison has, each with its sign, its words and its number of panels. */
function listCounts({ counts }: LayoutComparison) {
  return (Object.keys(changeSigns) as PanelChange[])
    .filter((change) => counts[change] > 0)
    .map((change) => ({
      change,
      sign: changeSigns[change],
      words: changeWords[change],
      count: counts[change],
    }))
}

/** The key to the signs of a comparison, as a list with the number of panels. Safe to insert. */
export function drawLegend(comparison: LayoutComparison): string {
  const entries = listCounts(comparison).map(
    ({ change, sign, words, count }) =>
      `<li class="panel-key panel-${change}"><span class="panel-sign" aria-hidden="true">${sign}</span> ${count} ${words}</li>`,
  )
  return entries.length === 0
    ? '<p class="dashboard-same">The layout is the same.</p>'
    : `<ul class="dashboard-legend">${entries.join('')}</ul>`
}
