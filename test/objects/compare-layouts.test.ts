import { describe, expect, it } from 'vitest'
import { compareLayouts } from '../../src/objects/compare-layouts.ts'
import { gridPanel, layoutOf, layoutWith, makeDashboard, makeObject } from './dashboards.ts'

/** What happened to each panel, such as `['1', 'moved']`, without those that are the same. */
function changesOf(before: readonly unknown[], after: readonly unknown[]) {
  const { pairs } = compareLayouts(layoutWith(before), layoutWith(after))
  return pairs
    .filter(({ changes }) => changes.length > 0)
    .map(({ before: one, after: other, changes }) => [(other ?? one)?.panelIndex, ...changes])
}

describe('the comparison of two layouts', () => {
  it('finds panels added, removed, moved and resized by their panelIndex', () => {
    const before = [
      gridPanel('same', [0, 0, 12, 10]),
      gridPanel('moved', [12, 0, 12, 10]),
      gridPanel('resized', [24, 0, 12, 10]),
      gridPanel('both', [36, 0, 12, 10]),
      gridPanel('removed', [0, 10, 12, 10]),
    ]
    const after = [
      gridPanel('same', [0, 0, 12, 10]),
      gridPanel('added', [0, 20, 12, 10]),
      gridPanel('moved', [12, 40, 12, 10]),
      gridPanel('resized', [24, 0, 12, 20]),
      gridPanel('both', [36, 5, 6, 10]),
    ]
    expect(changesOf(before, after)).toEqual([
      ['added', 'added'],
      ['moved', 'moved'],
      ['resized', 'resized'],
      ['both', 'moved', 'resized'],
      ['removed', 'removed'],
    ])
  })

  it('finds no change when a service only converted the dashboard to its newer form', () => {
    const old = { col: 7, row: 3, size_x: 6, size_y: 2, panelIndex: 4 }
    const after = gridPanel('4', [24, 10, 24, 10], { embeddableConfig: {} })
    expect(changesOf([{ ...old, type: 'visualization', id: 'object-4' }], [after])).toEqual([])
  })

  it('matches panels without panelIndex by the object that they show, several by their order', () => {
    const panel = (id: string, row: number) => ({
      ...{ id, type: 'visualization' },
      ...{ col: 1, row, size_x: 12, size_y: 2 },
    })
    const { pairs, counts } = compareLayouts(
      layoutWith([panel('a', 1), panel('b', 3), panel('a', 5)]),
      layoutWith([panel('b', 1), panel('a', 3), panel('a', 5)]),
    )
    expect(pairs.map(({ changes }) => changes)).toEqual([['moved'], ['moved'], []])
    expect(counts).toEqual({ added: 0, removed: 0, moved: 2, resized: 0, changed: 0 })
  })

  it('gives the reason when the content of a panel changed', () => {
    const vis = (id: string, title: string) => makeObject('visualization', id, { title })
    const at = [0, 0, 12, 10]
    const before = layoutOf(
      makeDashboard([
        gridPanel('1', at),
        gridPanel('2', at),
        gridPanel('3', at),
        gridPanel('4', at),
        gridPanel('5', at, { embeddableConfig: {} }),
      ]),
      [vis('object-1', 'A'), vis('object-2', 'B'), vis('object-3', 'C'), vis('object-5', 'E')],
    )
    const after = layoutOf(
      makeDashboard([
        gridPanel('1', at),
        gridPanel('2', at),
        gridPanel('3', at, { id: 'object-1' }),
        gridPanel('4', at, { title: 'Own' }),
        gridPanel('5', at),
      ]),
      [vis('object-1', 'A changed'), vis('object-5', 'E')],
    )
    expect(compareLayouts(before, after).pairs.map(({ inside }) => inside)).toEqual([
      ['content'],
      ['presence'],
      ['object'],
      ['settings'],
      [],
    ])
  })

  it('compares 1,000 panels with 1,000 others', () => {
    const list = (start: number) =>
      Array.from({ length: 1000 }, (_, n) => gridPanel(`${start + n}`, [0, n, 48, 1]))
    const { counts } = compareLayouts(layoutWith(list(0)), layoutWith(list(500)))
    expect(counts).toMatchObject({ added: 500, removed: 500, moved: 500 })
  })
})
