import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareLayouts } from '../../src/objects/compare-layouts.ts'
import { type DashboardLayout, readLayout } from '../../src/objects/dashboard-layout.ts'
import { parseSavedObject, type SavedObject } from '../../src/objects/saved-object.ts'
import { drawComparison, drawLayout } from '../../src/web/dashboard/draw.ts'
import { leaveOut } from '../left-out.ts'
import { readDrawing } from '../web/dashboard/read-drawing.ts'
import { corpus, unpackHistory } from './corpus.ts'

if (corpus === '') {
  leaveOut('drawings of real dashboards', 'by naming their folder in DASHKEEP_TEST_CORPUS')
}

interface RealDashboard {
  readonly id: string
  readonly hit: Hit
  readonly layout: DashboardLayout
}

/** What the independent reading of a hit looks at. */
interface Hit {
  readonly _id: string
  readonly _source: {
    panelsJSON?: string
    optionsJSON?: string
    dashboard?: Hit['_source']
    references?: { name: string; type: string; id: string }[]
  }
}

/** The dashboards of a folder, each read with the other objects of the folder. */
async function readFolder(folder: string): Promise<RealDashboard[]> {
  const objects = new Map<string, SavedObject>()
  let dashboards: Hit[] = []
  for (const type of ['search', 'visualization', 'dashboard']) {
    const { hits } = JSON.parse(await readFile(join(folder, `${type}.json`), 'utf8'))
    if (type === 'dashboard') dashboards = hits
    for (const hit of hits) {
      const object = parseSavedObject(Buffer.from(JSON.stringify(hit)), type)
      objects.set(object.id, object)
    }
  }
  return dashboards.map((hit) => {
    const object = parseSavedObject(Buffer.from(JSON.stringify(hit)), 'dashboard')
    return { id: object.id, hit, layout: readLayout(object, (id) => objects.get(id)) }
  })
}

type RawPanel = Record<string, unknown> & { gridData?: Record<string, number> }

/** A panel of the independent reading: two ways to tell it, and its place on 48 columns as two texts. */
interface Read {
  readonly index: unknown
  readonly object: string
  readonly corner: string
  readonly size: string
}

/** Reads the panels again, in the simplest way and without the code under test. */
function readAgain({ _source }: Hit): RawPanel[] {
  return JSON.parse((_source.dashboard ?? _source).panelsJSON || '[]')
}

function widestColumn(panels: RawPanel[]): number {
  return Math.max(0, ...panels.map(({ gridData: g }) => (g?.x ?? 0) + (g?.w ?? 0)))
}

/** In this repository no dashboard of 48 columns leaves all but 12 empty, so the widest panel tells. */
function placesOf(hit: Hit): Read[] {
  const panels = readAgain(hit)
  const options = JSON.parse((hit._source.dashboard ?? hit._source).optionsJSON || '{}')
  const isNarrow = widestColumn(panels) <= 12
  const down = options.useMargins ? 4 : 5
  return panels.map((panel) => {
    const { gridData: grid } = panel
    const old = [Number(panel.col) - 1, Number(panel.row) - 1, panel.size_x, panel.size_y]
    const [x, y, w, h] = (grid ? [grid.x, grid.y, grid.w, grid.h] : old).map(Number) as number[]
    const [across, along] = grid && !isNarrow ? [1, 1] : [4, down]
    const corner = `${Number(x) * across} ${Number(y) * along}`
    const size = `${Number(w) * across} ${Number(h) * along}`
    return { index: panel.panelIndex, object: objectOf(panel, hit), corner, size }
  })
}

/** The object that a panel shows, named in the panel or in the references of the dashboard. */
function objectOf(panel: RawPanel, { _source }: Hit): string {
  const named = _source.references?.find(({ name }) => name === panel.panelRefName) ?? panel
  return `${named.type}:${named.id}`
}

/** Added, removed, moved and resized panels, by the independent reading. */
function countAgain(before: Hit, after: Hit) {
  const [older, newer] = [placesOf(before), placesOf(after)]
  const isIndexed = hasKeys(before) && hasKeys(after)
  const left = [...older]
  const kept = newer.flatMap((one) => {
    const at = left.findIndex((other) =>
      isIndexed ? String(other.index) === String(one.index) : other.object === one.object,
    )
    return at < 0 ? [] : left.splice(at, 1).map((other) => [other, one] as const)
  })
  return {
    added: newer.length - kept.length,
    removed: older.length - kept.length,
    moved: kept.filter(([one, other]) => one.corner !== other.corner).length,
    resized: kept.filter(([one, other]) => one.size !== other.size).length,
  }
}

/** Added, removed, moved and resized panels, counted in the drawing itself. */
function countDrawn(drawing: string) {
  const [before = '', after = ''] = drawing.split('</figure>')
  const count = (side: string, change: string) =>
    [...side.matchAll(/<(?:a|g) id="[^"]*" class="([^"]*)"/g)].filter(([, classes = '']) =>
      classes.split(' ').includes(`panel-${change}`),
    ).length
  const both = (change: string) => {
    expect(count(before, change)).toBe(count(after, change))
    return count(after, change)
  }
  return {
    added: count(after, 'added'),
    removed: count(before, 'removed'),
    moved: both('moved'),
    resized: both('resized'),
  }
}

describe.skipIf(corpus === '')('the layouts of real dashboards', () => {
  it('are read in each form, and drawn with every panel once', async () => {
    const names = (await readdir(corpus)).filter((name) => /^account-\d\d$/.test(name))
    const read = await Promise.all(names.map((name) => readFolder(join(corpus, name))))
    const dashboards = read.flat()
    const forms = Map.groupBy(dashboards, ({ layout }) => layout.form)
    expect(Object.fromEntries([...forms].map(([form, list]) => [form, list.length]))).toEqual({
      columns: 219,
      'grid-12': 35,
      'grid-48': 124,
    })
    for (const { hit, layout } of dashboards) {
      const drawing = readDrawing(drawLayout(layout, { label: 'now', idPrefix: '' }))
      const numbers = drawing.panels.map(({ number }) => number).toSorted((a, b) => a - b)
      expect(numbers).toEqual(readAgain(hit).map((_, nth) => nth + 1))
      for (const { x, y, width, height } of drawing.panels) {
        expect(Math.min(x, y, width, height)).toBeGreaterThan(0)
        expect(x + width).toBeLessThan(drawing.width)
        expect(y + height).toBeLessThan(drawing.height)
      }
    }
  }, 120_000)

  it('differ as an independent reading of both panel lists says, in 200 changes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dashkeep-layouts-'))
    try {
      await unpackHistory(folder)
      // Every version with each earlier one. The way back counts with it, not as another change.
      const versions: RealDashboard[] = []
      let changed = 0
      for (const date of (await readdir(folder)).sort()) {
        for (const dashboard of await readFolder(join(folder, date))) {
          const earlier = versions.filter((one) => isSame(one, dashboard))
          if (earlier.some(({ hit }) => panelsOf(hit) === panelsOf(dashboard.hit))) continue
          versions.push(dashboard)
          for (const before of earlier) {
            const there = countChanges(before, dashboard)
            const back = countChanges(dashboard, before)
            changed += there > 0 && back > 0 ? 1 : 0
          }
        }
      }
      expect(changed).toBeGreaterThanOrEqual(200)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }, 300_000)
})

/**
 * All ids were replaced in February 2019, and many titles, so that two dashboards are also the same
 * if half of the panels of each show objects of the same titles.
 */
function isSame(one: RealDashboard, other: RealDashboard): boolean {
  const idOf = ({ id }: RealDashboard) => id.replace(/-ecs$/, '')
  const nameOf = ({ layout }: RealDashboard) => layout.title.replace(/ ECS/i, '').toLowerCase()
  if (idOf(one) === idOf(other) || nameOf(one) === nameOf(other)) return true
  const [these, those] = [one, other].map(({ layout }) => {
    return new Set(layout.panels.map(({ content }) => plain(content.title)))
  }) as [Set<string>, Set<string>]
  const shared = these.intersection(those).size
  return shared >= 2 && 2 * shared >= Math.max(these.size, those.size)
}

/** A title without the marks of product, module and version, such as `[Metricbeat System] … ECS`. */
function plain(title: string): string {
  return title
    .replace(/\[.*?\]| ECS\b/gi, '')
    .toLowerCase()
    .trim()
}

/** How many changes both readings find from one version to another; fails when they disagree. */
function countChanges(before: RealDashboard, after: RealDashboard): number {
  const expected = countAgain(before.hit, after.hit)
  const comparison = compareLayouts(before.layout, after.layout)
  const drawing = drawComparison(comparison, { before: 'before', after: 'after' })
  expect(comparison.counts, after.id).toMatchObject(expected)
  expect(countDrawn(drawing), after.id).toEqual(expected)
  return Object.values(expected).reduce((sum, count) => sum + count, 0)
}

function panelsOf({ _source }: Hit): string | undefined {
  return (_source.dashboard ?? _source).panelsJSON
}

/** Whether the simple reading suffices: every panel has its own `panelIndex`. */
function hasKeys(hit: Hit): boolean {
  try {
    const keys = readAgain(hit).map(({ panelIndex }) => panelIndex)
    return !keys.includes(undefined) && new Set(keys.map(String)).size === keys.length
  } catch {
    return false
  }
}
