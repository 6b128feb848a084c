import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareLayouts } from '../../../src/objects/compare-layouts.ts'
import { describeChanges, drawLegend } from '../../../src/web/dashboard/changes.ts'
import { drawComparison, drawLayout } from '../../../src/web/dashboard/draw.ts'
import { fitLines } from '../../../src/web/dashboard/text.ts'
import { gridPanel, layoutOf, layoutWith, makeDashboard } from '../../objects/dashboards.ts'
import { readDrawing } from './read-drawing.ts'

const labels = { before: '2020-09-10', after: '2020-11-23' }
const options = { label: 'now', idPrefix: '' }

const arbitraryPanels = fc.uniqueArray(
  fc.record({
    key: fc.string({ unit: 'binary', minLength: 1 }),
    place: fc.array(fc.integer({ min: -2, max: 60 }), { minLength: 4, maxLength: 4 }),
    title: fc.string({ unit: 'binary' }),
  }),
  { selector: ({ key }) => key },
)

const toPanels = (list: { key: string; place: number[]; title: string }[]) =>
  list.map(({ key, place, title }) => gridPanel(key, place, { title }))

describe('the drawing of a dashboard', () => {
  it('shows every panel once and inside of the view box', () => {
    fc.assert(
      fc.property(arbitraryPanels, (list) => {
        const { panels, width, height } = readDrawing(
          drawLayout(layoutWith(toPanels(list)), options),
        )
        const numbers = panels.map((panel) => panel.number).toSorted((one, other) => one - other)
        expect(numbers).toEqual(list.map((_, nth) => nth + 1))
        for (const panel of panels) {
          expect(Math.min(panel.x, panel.y, panel.width, panel.height)).toBeGreaterThan(0)
          expect(panel.x + panel.width).toBeLessThan(width)
          expect(panel.y + panel.height).toBeLessThan(height)
        }
      }),
    )
  })

  it('escapes titles, and contains no script and no inline style', () => {
    const hostile = [
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      `' onload='alert(1)`,
      '&lt;b&gt; &#60;',
      ']]><!--',
      '</title></svg><style>*{}</style>',
      '\u202egpj.exe',
      '<'.repeat(100_000),
    ]
    fc.assert(
      fc.property(fc.constantFrom(...hostile), fc.string({ unit: 'binary' }), (title, more) => {
        const panels = [gridPanel('"><x>', [0, 0, 48, 10], { title: `${title}${more}`, id: '<' })]
        const layout = layoutOf(makeDashboard(panels, { title }))
        const linked = drawLayout(layout, options, () => title)
        const compared = drawComparison(compareLayouts(layoutWith([]), layout), {
          before: title,
          after: more,
        })
        for (const drawing of [drawLayout(layout, options), linked, compared]) {
          const { names, attributes } = readDrawing(drawing)
          expect(names.filter((name) => !allowedNames.includes(name))).toEqual([])
          expect(attributes.filter((name) => !allowedAttributes.includes(name))).toEqual([])
        }
        expect(drawLayout(layout, options)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
        expect(compared).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
        expect(drawLayout(layout, options).length).toBeLessThan(10_000)
      }),
    )
  })

  it('names each panel, names missing objects, and has the given links', () => {
    const layout = layoutWith([gridPanel('1', [0, 0, 24, 10], { title: 'Tom & Jerry' })])
    const drawing = drawLayout(layout, options, ({ content }) => `/o?id=${content.objectId}&x=1`)
    expect(drawing).toContain('aria-label="Sales, now: 1 panel"')
    expect(drawing).toContain('<title>Tom &amp; Jerry · not in this snapshot</title>')
    expect(drawing).toContain('href="/o?id=visualization:object-1&amp;x=1"')
    expect(drawing).toContain('class="panel panel-missing"')
  })

  it('says when there are no panels', () => {
    expect(drawLayout(layoutWith([]), options)).toContain('>No panels</text>')
  })
})

describe('the drawing of a comparison', () => {
  const before = layoutWith([
    gridPanel('gone', [0, 0, 24, 10]),
    gridPanel('moved', [24, 0, 24, 10]),
    gridPanel('same', [0, 10, 24, 10]),
  ])
  const after = layoutWith([
    gridPanel('moved', [0, 0, 24, 10]),
    gridPanel('new', [24, 0, 24, 20], { title: 'New' }),
    gridPanel('same', [0, 10, 24, 10]),
  ])
  const comparison = compareLayouts(before, after)
  const drawing = drawComparison(comparison, labels)

  it('marks each change by sign, by class and in words', () => {
    const signed = [...drawing.matchAll(/class="(panel[^"]*)".*?(?:panel-sign">(.)|<\/a>)/g)]
    expect(signed.map(([, name, sign]) => [name, sign])).toEqual([
      ['panel panel-removed panel-missing', '−'],
      ['panel panel-moved panel-missing', '↔'],
      ['panel panel-missing', undefined],
      ['panel panel-moved panel-missing', '↔'],
      ['panel panel-added panel-missing', '+'],
      ['panel panel-missing', undefined],
    ])
    expect(drawing).toContain('moved from column 24, row 0 to column 0, row 0</title>')
  })

  it('describes places on the grid of the dashboard when both versions use the same grid', () => {
    const old = (row: number, size: number) => ({
      ...{ panelIndex: 1, type: 'visualization', id: 'object-1' },
      ...{ col: 1, row, size_x: size, size_y: 4 },
    })
    const say = (one: object, other: object) =>
      compareLayouts(layoutWith([one]), layoutWith([other])).pairs.map(describeChanges)
    expect(say(old(1, 6), old(9, 12))).toEqual([
      'moved from column 1, row 1 to column 1, row 9, resized from 6×4 to 12×4',
    ])
    expect(say(old(1, 6), gridPanel('1', [24, 0, 24, 20]))).toEqual([
      'moved from column 0, row 0 to column 24, row 0',
    ])
  })

  it('gives both drawings of a panel the same number and different ids', () => {
    const ids = [...drawing.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids).toEqual([
      ...['before-panel-4', 'before-panel-1', 'before-panel-3'],
      ...['after-panel-1', 'after-panel-2', 'after-panel-3'],
    ])
    const targets = [...drawing.matchAll(/ href="([^"]*)"/g)].map(([, href]) => href)
    expect(targets).toEqual([
      ...['#change-4', '#change-1', '#after-panel-3'],
      ...['#change-1', '#change-2', '#before-panel-3'],
    ])
  })

  it('draws both layouts with the same number of rows', () => {
    expect([...drawing.matchAll(/viewBox="(0 0 576 \d+)"/g)].map(([, box]) => box)).toEqual([
      '0 0 576 200',
      '0 0 576 200',
    ])
  })

  it('explains the signs that it uses', () => {
    const words = drawLegend(comparison)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
    expect(words).toBe('− 1 removed + 1 added ↔ 1 moved')
    expect(drawLegend(compareLayouts(after, after))).toContain('The layout is the same.')
  })
})

describe('a title', () => {
  it.each([
    ['Memory Usage', 20, 1, ['Memory Usage']],
    ['Memory Usage', 8, 1, ['Memory …']],
    ['Memory Usage', 8, 2, ['Memory', 'Usage']],
    ['Memoryusage', 6, 2, ['Memory', 'usage']],
    ['記憶體使用量', 7, 1, ['記憶體…']],
    ['', 8, 2, []],
  ])('is broken and shortened: %s', (text, columns, lines, expected) => {
    expect(fitLines(text, columns, lines)).toEqual(expected)
  })
})

const allowedNames = [
  ...['a', 'div', 'figcaption', 'figure', 'g', 'path', 'rect', 'svg', 'text', 'title', 'tspan'],
]
const allowedAttributes = [
  ...['aria-label', 'class', 'd', 'data-panel', 'height', 'href', 'id', 'role', 'rx', 'viewBox'],
  ...['width', 'x', 'y'],
]
