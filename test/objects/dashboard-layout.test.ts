import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gridPanel, layoutOf, layoutWith, makeDashboard, makeObject } from './dashboards.ts'

const places = (layout: ReturnType<typeof layoutWith>) =>
  layout.panels.map(({ place: { x, y, width, height } }) => [x, y, width, height])

const oldPanel = { id: 'a', type: 'visualization', panelIndex: 1 }

describe('the layout of a dashboard', () => {
  it('converts col, row and sizes on 12 columns to the grid of 48', () => {
    const layout = layoutWith([{ ...oldPanel, col: 7, row: 3, size_x: 6, size_y: 2 }])
    expect(layout).toMatchObject({ form: 'columns', rows: 20, problems: [] })
    expect(places(layout)).toEqual([[24, 10, 24, 10]])
  })

  it('gives an old panel without a size half of the width and three rows', () => {
    expect(places(layoutWith([{ ...oldPanel, col: 1, row: 1 }]))).toEqual([[0, 0, 24, 15]])
  })

  it('converts rows by 4 on a dashboard with margins', () => {
    const panel = { ...oldPanel, col: 1, row: 2, size_x: 12, size_y: 3 }
    const layout = layoutOf(makeDashboard([panel], { margins: true }))
    expect(places(layout)).toEqual([[0, 4, 48, 12]])
  })

  it.each([
    ['6.1.0-SNAPSHOT', 'grid-12'],
    ['6.2.4', 'grid-12'],
    ['6.3.0', 'grid-48'],
    ['6.10.0', 'grid-48'],
    ['7.0.0-alpha2', 'grid-48'],
    ['7.17.3', 'grid-48'],
    ['8.6.0', 'grid-48'],
    ['1.0.0-SNAPSHOT', 'grid-48'],
    ['2.15.0', 'grid-48'],
    [undefined, 'grid-48'],
  ])('derives the grid from the version of a panel: %s', (version, form) => {
    const layout = layoutWith([gridPanel('1', [0, 0, 6, 3], { version })])
    expect(layout.form).toBe(form)
    expect(places(layout)).toEqual([form === 'grid-12' ? [0, 0, 24, 15] : [0, 0, 6, 3]])
  })

  it('takes 7.0.0-alpha1, which had both grids, by the other panels, then by the widest', () => {
    const unsure = (x: number, version = '7.0.0-alpha1-SNAPSHOT') =>
      gridPanel(`${x}`, [x, 0, 6, 3], { version })
    expect(layoutWith([unsure(0), unsure(6)]).form).toBe('grid-12')
    expect(layoutWith([unsure(0), unsure(12)]).form).toBe('grid-48')
    expect(layoutWith([unsure(0), unsure(6, '6.5.0')]).form).toBe('grid-48')
    expect(layoutWith([unsure(0), unsure(6, '6.1.0')]).form).toBe('grid-12')
  })

  it('resolves titles: the own one, then that of the object, then the id', () => {
    const objects = [
      makeObject('visualization', 'object-1', { title: 'Visits', visState: '{"type":"pie"}' }),
      makeObject('visualization', 'object-2', { title: 'Bytes', visState: 'broken' }),
      makeObject('search', 'errors', { title: 'Errors' }),
    ]
    const panels = [
      gridPanel('1', [0, 0, 4, 4]),
      gridPanel('2', [4, 0, 4, 4], { title: 'Own title' }),
      gridPanel('3', [8, 0, 4, 4]),
      { ...gridPanel('4', [12, 0, 4, 4]), type: undefined, id: undefined, panelRefName: 'panel_3' },
      gridPanel('5', [16, 0, 4, 4], {
        id: undefined,
        embeddableConfig: { savedVis: { title: 'Inside', type: 'markdown' } },
      }),
      { panelIndex: '6', gridData: { x: 20, y: 0, w: 4, h: 4 } },
    ]
    const references = [{ name: 'panel_3', type: 'search', id: 'errors' }]
    const { panels: read } = layoutOf(makeDashboard(panels, { references }), objects)
    expect(read.map(({ content: { title, state, kind } }) => [title, state, kind])).toEqual([
      ['Visits', 'found', 'pie'],
      ['Own title', 'found', 'other'],
      ['visualization:object-3', 'missing', 'other'],
      ['Errors', 'found', 'search'],
      ['Inside', 'inline', 'text'],
      ['Panel without an object', 'none', 'other'],
    ])
  })

  it('finds a reference by the name with the panel index too', () => {
    const panel = { ...gridPanel('7', [0, 0, 4, 4]), id: undefined, panelRefName: 'panel_7' }
    const references = [{ name: '7:panel_7', type: 'visualization', id: 'x' }]
    const layout = layoutOf(makeDashboard([panel], { references }))
    expect(layout.panels[0]?.content.objectId).toBe('visualization:x')
  })

  it.each([
    ['not JSON', 'panelsJSON is not JSON'],
    ['{"a":1}', 'panelsJSON is not a list of panels'],
    ['7', 'panelsJSON is not a list of panels'],
  ])('says that it cannot read %s', (text, problem) => {
    const none = { panels: [], rows: 0, form: 'none' }
    expect(layoutWith(text)).toMatchObject({ ...none, problems: [problem] })
  })

  it('reports a missing panelsJSON, and reads an empty one as no panels', () => {
    const none = layoutOf(makeObject('dashboard', 'sales', {}))
    expect(none.problems).toEqual(['The dashboard has no panelsJSON'])
    expect(layoutWith('')).toMatchObject({ panels: [], problems: [] })
  })

  it('puts panels without a usable place below the others', () => {
    const bad = [
      [-1, 0, 4, 4],
      [0, 0, -4, 4],
      [0, 0, 0, 4],
      [0, 1e300, 4, 4],
    ]
    const panels = [gridPanel('ok', [0, 0, 48, 10]), 'text', null, {}]
    const layout = layoutWith([...panels, ...bad.map((one, nth) => gridPanel(`${nth}`, one))])
    expect(layout.panels.map(({ isPlaced }) => isPlaced)).toEqual([true, ...Array(7).fill(false)])
    expect(places(layout).slice(0, 6)).toEqual([
      [0, 0, 48, 10],
      [0, 10, 12, 8],
      [12, 10, 12, 8],
      [24, 10, 12, 8],
      [36, 10, 12, 8],
      [0, 18, 12, 8],
    ])
    expect(layout.problems).toEqual(['Without a usable place, shown below the others: 7'])
  })

  it('counts panels that overlap, and moves those beyond the right edge to the left', () => {
    const layout = layoutWith([
      gridPanel('1', [0, 0, 24, 10]),
      gridPanel('2', [12, 5, 24, 10]),
      gridPanel('3', [40, 20, 24, 10]),
      gridPanel('4', [0, 40, 100, 10]),
    ])
    expect(places(layout).slice(2)).toEqual([
      [24, 20, 24, 10],
      [0, 40, 48, 10],
    ])
    expect(layout.problems).toEqual(['Panels that overlap an earlier panel: 1'])
  })

  it('reads 1,000 of 10,000 panels and reports the limit', () => {
    const panels = Array.from({ length: 10_000 }, (_, n) => gridPanel(`${n}`, [0, n, 48, 1]))
    const layout = layoutWith(panels)
    expect(layout.panels).toHaveLength(1000)
    expect(layout.problems).toEqual(['Only 1000 of 10000 panels are shown'])
  })

  it('gives a value for every JSON there is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom(...members), fc.jsonValue())),
        (panels) => {
          const layout = layoutWith(panels)
          expect(layout.panels).toHaveLength(panels.length)
          for (const { place } of layout.panels) {
            expect(place.x).toBeGreaterThanOrEqual(0)
            expect(place.x + place.width).toBeLessThanOrEqual(48)
            expect(place.y).toBeGreaterThanOrEqual(0)
            expect(place.y + place.height).toBeLessThanOrEqual(layout.rows)
          }
        },
      ),
    )
  })
})

const members = [
  ...['panelIndex', 'gridData', 'col', 'row', 'size_x', 'size_y', 'version', 'id', 'type', 'title'],
  ...['panelRefName', 'embeddableConfig'],
]
