import type {
  InsideChange,
  LayoutComparison,
  PanelChange,
  PanelPair,
} from '../../objects/compare-layouts.ts'
import type { PanelPlace } from '../../objects/diff-objects.ts'

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

/** What happened to a panel, in words, such as `moved from column 0, row 8 to column 24, row 0`. */
export function describeChanges({ changes, inside, before, after }: PanelPair): string {
  const parts = changes.map((change) => {
    if (change === 'changed') {
      return `${changeWords.changed} (${inside.map((one) => insideWords[one]).join(', ')})`
    }
    if (before === undefined || after === undefined) return changeWords[change]
    const describe = change === 'moved' ? cornerOf : sizeOf
    return `${changeWords[change]} from ${describe(before.place)} to ${describe(after.place)}`
  })
  return parts.join(', ')
}

/** The changes that a comparison has, each with its sign, its words and its number of panels. */
export function listCounts({ counts }: LayoutComparison) {
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

function cornerOf({ x, y }: PanelPlace): string {
  return `column ${x}, row ${y}`
}

function sizeOf({ width, height }: PanelPlace): string {
  return `${width}×${height}`
}
