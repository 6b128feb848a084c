import type { LayoutComparison, PanelPair } from '../../objects/compare-layouts.ts'
import type { DashboardLayout, DashboardPanel } from '../../objects/dashboard-layout.ts'
import { GRID_COLUMNS } from '../../objects/panel-grid.ts'
import { plural } from '../../wording.ts'
import { changeSigns, describeChanges } from './changes.ts'
import { ICON_SIZE, iconPaths, kindNames, missingPath } from './icons.ts'
import { cleanTitle, escapeMarkup, fitLines } from './text.ts'

/** How a drawing is named and where its panels lead. */
interface DrawingOptions {
  /** The name of the drawing for screen readers, and its caption in a comparison. */
  readonly label: string
  /** The start of the `id` of each panel. Each drawing of a page needs its own. */
  readonly idPrefix: string
  /** Rows of the drawing, when another drawing beside it has more. */
  readonly rows?: number
}

/** A panel to draw: its number in the page, and what happened to it in a comparison. */
interface Drawn {
  readonly number: number
  readonly panel: DashboardPanel
  readonly pair?: PanelPair
  /** Where a click leads. */
  readonly href: string | undefined
}

/** Units of the drawing that a cell of the grid takes. */
const CELL_WIDTH = 12
const CELL_HEIGHT = 10
/** Free space around a panel. */
const GAP = 1.5
const PADDING = 9
const LINE_HEIGHT = 15
/** Width of a narrow character, a little more than the average. */
const CHARACTER_WIDTH = 7
const MIN_ROWS = 10

/**
 * Draws a dashboard as inline SVG. The text is safe to insert into a page: everything from outside
 * is escaped, and there is no script and no inline style. Each panel has `data-panel` with its
 * number, counted from 1, and leads to the address that `linkTo` gives.
 */
export function drawLayout(
  layout: DashboardLayout,
  options: DrawingOptions,
  linkTo: (panel: DashboardPanel) => string | undefined = () => undefined,
): string {
  const drawn = layout.panels.map((panel, nth) => ({
    number: nth + 1,
    panel,
    href: linkTo(panel),
  }))
  return drawPanels(layout, drawn, options)
}

/** The names of both versions in a comparison. */
export interface ComparisonLabels {
  readonly before: string
  readonly after: string
  /** The start of every `id`. Each comparison of a page needs its own. */
  readonly idPrefix?: string
}

/**
 * Draws both layouts of a comparison side by side, with the same number of rows. Both drawings of a
 * panel have the same `data-panel`, the number of its pair. A panel with changes leads to
 * `#change-<number>`, another to itself in the other drawing.
 */
export function drawComparison(comparison: LayoutComparison, labels: ComparisonLabels): string {
  const { before, after } = comparison
  const { idPrefix = '' } = labels
  const rows = Math.max(before.rows, after.rows)
  const draw = (side: 'before' | 'after', other: 'before' | 'after') => {
    const drawn = comparison.pairs.flatMap((pair): Drawn[] => {
      const panel = pair[side]
      const { number, changes } = pair
      const href =
        changes.length > 0 ? `#${idPrefix}change-${number}` : `#${idPrefix}${other}-panel-${number}`
      return panel === undefined ? [] : [{ number, panel, pair, href }]
    })
    const label = labels[side]
    const drawing = drawPanels(comparison[side], drawn, {
      label,
      idPrefix: `${idPrefix}${side}-`,
      rows,
    })
    const caption = escapeMarkup(cleanTitle(label))
    return `<figure class="dashboard-side"><figcaption>${caption}</figcaption>${drawing}</figure>`
  }
  return `<div class="dashboard-pair">${draw('before', 'after')}${draw('after', 'before')}</div>`
}

function drawPanels(
  layout: DashboardLayout,
  drawn: readonly Drawn[],
  { label, idPrefix, rows = layout.rows }: DrawingOptions,
): string {
  const [width, height] = [GRID_COLUMNS * CELL_WIDTH, Math.max(rows, MIN_ROWS) * CELL_HEIGHT]
  const name = `${cleanTitle(layout.title)}, ${cleanTitle(label)}: ${plural(drawn.length, 'panel')}`
  const inOrder = drawn.toSorted(
    ({ panel: { place: one } }, { panel: { place: other } }) => one.y - other.y || one.x - other.x,
  )
  const empty =
    drawn.length === 0
      ? `<text class="dashboard-empty" x="${width / 2}" y="${height / 2}">No panels</text>`
      : ''
  return [
    `<div class="dashboard-scroll"><svg class="dashboard" viewBox="0 0 ${width} ${height}" role="group" aria-label="${escapeMarkup(name)}">`,
    ...inOrder.map((one) => drawPanel(one, idPrefix)),
    `${empty}</svg></div>`,
  ].join('\n')
}

function drawPanel({ number, panel, pair, href }: Drawn, idPrefix: string): string {
  const { place, content } = panel
  const box = {
    width: round(place.width * CELL_WIDTH - 2 * GAP),
    height: round(place.height * CELL_HEIGHT - 2 * GAP),
  }
  const changes = pair?.changes ?? []
  const classes = ['panel', ...changes.map((change) => `panel-${change}`)]
  if (content.state === 'missing') classes.push('panel-missing')
  const words = [
    cleanTitle(content.title),
    content.state === 'missing' ? 'not in this snapshot' : kindNames[content.kind],
    ...(pair !== undefined && changes.length > 0 ? [describeChanges(pair)] : []),
  ].join(' · ')
  const attributes = [
    `id="${escapeMarkup(idPrefix)}panel-${number}"`,
    `class="${classes.join(' ')}"`,
    `data-panel="${number}"`,
    `aria-label="${escapeMarkup(words)}"`,
    href === undefined ? 'role="img"' : `href="${escapeMarkup(href)}"`,
  ].join(' ')
  const element = href === undefined ? 'g' : 'a'
  // The inner svg moves the panel to its place and cuts what does not fit.
  const [x, y] = [round(place.x * CELL_WIDTH + GAP), round(place.y * CELL_HEIGHT + GAP)]
  return `<${element} ${attributes}><title>${escapeMarkup(words)}</title><svg x="${x}" y="${y}" width="${box.width}" height="${box.height}">${drawInside(panel, changes.map((change) => changeSigns[change]).join(''), box)}</svg></${element}>`
}

interface Box {
  readonly width: number
  readonly height: number
}

/** The frame, the signs of the changes, the title, and the sign of the kind below it. */
function drawInside({ content }: DashboardPanel, signs: string, { width, height }: Box): string {
  const frame = (className: string, inset: number) => {
    const size = `width="${round(Math.max(width - 2 * inset, 0))}" height="${round(Math.max(height - 2 * inset, 0))}"`
    return `<rect class="${className}" x="${inset}" y="${inset}" ${size} rx="3"/>`
  }
  const columns = Math.floor((width - 2 * PADDING) / CHARACTER_WIDTH)
  const start = signs === '' ? '' : `${signs} `
  const title = `${start}${cleanTitle(content.title)}`
  const maxLines = height >= 5 * LINE_HEIGHT ? 2 : 1
  const lines = height < LINE_HEIGHT + 4 || columns < 2 ? [] : fitLines(title, columns, maxLines)
  const texts = lines.map((line, nth) => {
    const isSigned = nth === 0 && start !== '' && line.startsWith(signs)
    const shown = isSigned
      ? `<tspan class="panel-sign">${signs}</tspan>${escapeMarkup(line.slice(signs.length))}`
      : escapeMarkup(line)
    return `<text class="panel-title" x="${PADDING}" y="${(nth + 1) * LINE_HEIGHT + 2}">${shown}</text>`
  })
  const icon = drawIcon(content, { width, height }, lines.length * LINE_HEIGHT + 4)
  return [frame('panel-frame', 1), frame('panel-inner', 4), icon, texts.join(' ')].join('')
}

/** The sign of the kind in the middle of the room below the title; nothing when it is too small. */
function drawIcon({ state, kind }: DashboardPanel['content'], box: Box, top: number): string {
  const size = Math.min((box.height - top) * 0.7, box.width * 0.4, 44)
  if (size < 9) return ''
  const x = round((box.width - size) / 2)
  const y = round(top + (box.height - top - size) / 2)
  const path = state === 'missing' ? missingPath : iconPaths[kind]
  return `<svg class="panel-kind" x="${x}" y="${y}" width="${round(size)}" height="${round(size)}" viewBox="0 0 ${ICON_SIZE} ${ICON_SIZE}"><path d="${path}"/></svg>`
}

/** Short, and never so small that it is written with an exponent. */
function round(number: number): number {
  return Math.round(number * 100) / 100
}
