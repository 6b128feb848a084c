import { html, raw } from 'hono/html'
import { compareLayouts, type PanelPair } from '../../objects/compare-layouts.ts'
import type { DashboardLayout } from '../../objects/dashboard-layout.ts'
import {
  type Difference,
  diffValues,
  type ObjectDiff,
  type Step,
} from '../../objects/diff-objects.ts'
import { isPanel } from '../../objects/name-difference.ts'
import { comparableView } from '../../objects/open-nested.ts'
import type { SavedObject } from '../../objects/saved-object.ts'
import { changeSigns, describeChanges, drawLegend } from '../dashboard/changes.ts'
import { type ComparisonLabels, drawComparison } from '../dashboard/draw.ts'
import { type Markup, outside } from '../markup.ts'
import { differenceList } from './differences.ts'

/** Two versions of a dashboard. */
interface DashboardVersions {
  readonly before: DashboardLayout
  readonly after: DashboardLayout
  /** The captions of both drawings. */
  readonly labels: ComparisonLabels
  readonly diff: ObjectDiff
  /** The address of the comparison of an object that a panel shows. */
  readonly linkTo: (id: string) => string
}

/** Both layouts side by side, and below them what changed, panel by panel. */
export function dashboardChanges({
  before,
  after,
  labels,
  diff,
  linkTo,
}: DashboardVersions): Markup {
  const comparison = compareLayouts(before, after)
  const byPanel = groupByPanel(diff.differences, comparison.pairs)
  const rest = byPanel.get(undefined) ?? []
  const panels = comparison.pairs.filter(
    (pair) => pair.changes.length > 0 || (byPanel.get(pair)?.length ?? 0) > 0,
  )
  return html`<h2>Panels</h2>
${raw(drawLegend(comparison))}
${raw(drawComparison(comparison, labels))}
${
  panels.length > 0 &&
  html`<h2>Changes by panel</h2>
<ul class="panel-changes">${panels.map((pair) => panelEntry(pair, { own: byPanel.get(pair) ?? [], diff, linkTo, idPrefix: labels.idPrefix }))}</ul>`
}
<h2>The dashboard itself</h2>
${rest.length === 0 ? html`<p>No change.</p>` : differenceList(rest, diff)}`
}

/** The differences of each panel, without what the drawing shows; those outside panels together. */
function groupByPanel(
  differences: readonly Difference[],
  pairs: readonly PanelPair[],
): Map<PanelPair | undefined, Difference[]> {
  const byIndex = new Map(
    pairs.map((pair) => [(pair.after ?? pair.before)?.panelIndex, pair] as const),
  )
  const told = differences.filter(({ kind, path }) => {
    const isWhole = isPanel(path.at(-1)) && ['added', 'removed', 'moved'].includes(kind)
    return !isWhole || pairOf(path, byIndex) === undefined
  })
  return Map.groupBy(told, ({ path }) => pairOf(path, byIndex))
}

function pairOf(
  path: readonly Step[],
  byIndex: ReadonlyMap<string | undefined, PanelPair>,
): PanelPair | undefined {
  const step = path.find(isPanel)
  return typeof step === 'object' ? byIndex.get(step.key) : undefined
}

function panelEntry(
  pair: PanelPair,
  {
    own,
    diff,
    linkTo,
    idPrefix = '',
  }: {
    own: readonly Difference[]
    diff: ObjectDiff
    linkTo: DashboardVersions['linkTo']
    idPrefix: string | undefined
  },
): Markup {
  const { number, changes, before, after } = pair
  const inside = own.map((one) => ({
    ...one,
    path: one.path.slice(one.path.findIndex(isPanel) + 1),
  }))
  const signs = changes.map((change) => changeSigns[change]).join('')
  const title = (after ?? before)?.content.title ?? ''
  const isBrief = inside.length === 0 && !pair.inside.includes('content')
  return html`<li id="${idPrefix}change-${number}" data-panel="${number}" class="${isBrief ? 'panel-entry brief' : 'panel-entry'}">
<h3><span class="panel-sign" aria-hidden="true">${signs}</span> ${outside(title)}</h3>
${changes.length > 0 && html`<p>${describeChanges(pair)}</p>`}
${inside.length > 0 && differenceList(inside, diff)}
${pair.inside.includes('content') && contentChange(before?.content.object, after?.content.object, linkTo)}
</li>\n`
}

/** What differs in the object that a panel shows. */
function contentChange(
  before: SavedObject | undefined,
  after: SavedObject | undefined,
  linkTo: (id: string) => string,
): Markup | false {
  if (before === undefined || after === undefined) return false
  const { differences } = diffValues(comparableView(before.hit), comparableView(after.hit))
  const names = { type: after.type, references: [...after.references, ...before.references] }
  return html`<p>In <a href="${linkTo(after.id)}"><code>${outside(after.id)}</code></a>:</p>
${differenceList(differences, names)}`
}
