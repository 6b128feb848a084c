import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffHits, diffValues, type Step } from '../../src/objects/diff-objects.ts'
import { equalJson, type JsonValue, parseLossless } from '../../src/objects/lossless-json.ts'
import { applyPatch } from './apply-patch.ts'
import { anyValue, likelyValue } from './arbitrary-values.ts'

function diff(before: unknown, after: unknown) {
  const [a, b] = [before, after].map((value) => parseLossless(JSON.stringify(value)))
  const { differences, patch } = diffValues(a as JsonValue, b as JsonValue)
  expect(applyPatch(a as JsonValue, patch)).toEqual(b)
  return differences.map(({ kind, path }) => `${kind} ${path.map(nameOf).join(' ')}`)
}

function nameOf(step: Step): string {
  return typeof step === 'object' ? `${step.by}=${step.key}` : String(step)
}

describe('a diff applied to the first value gives the second', () => {
  const pairs = fc.oneof(fc.tuple(likelyValue, likelyValue), fc.tuple(anyValue, anyValue))

  it('and is empty for equal values only', () => {
    fc.assert(
      fc.property(pairs, ([before, after]) => {
        const { differences, patch } = diffValues(before, after)
        expect(equalJson(applyPatch(before, patch), after)).toBe(true)
        expect(patch.length === 0).toBe(equalJson(before, after))
        expect(differences.length === 0).toBe(equalJson(before, after))
        expect(diffValues(after, after)).toEqual({ differences: [], patch: [] })
      }),
      { numRuns: 2000 },
    )
  })
})

describe('members are compared one by one', () => {
  it('and named by their place', () => {
    expect(diff({ a: { b: 1 }, c: 2, gone: 3 }, { a: { b: 2 }, c: 2, added: 4 })).toEqual([
      'changed a b',
      'removed gone',
      'added added',
    ])
  })

  it('in any order', () => {
    expect(diff({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([])
  })

  it('with JSON Pointers for odd names', () => {
    const [before, after] = ['{"a/b":{"~":1}}', '{"a/b":{"~":2}}'].map(parseLossless)
    const { patch } = diffValues(before as JsonValue, after as JsonValue)
    expect(patch).toEqual([{ op: 'replace', path: '/a~1b/~0', value: 2 }])
  })

  it('but a value of another kind as a whole', () => {
    expect(diff({ a: {} }, { a: [] })).toEqual(['changed a'])
    expect(diff({ a: '{' }, { a: { b: 1 } })).toEqual(['changed a'])
  })
})

describe('items of a list are matched', () => {
  it('by what stays the same, and by place between that', () => {
    expect(diff(['a', 'b', 'c'], ['a', 'x', 'b', 'c'])).toEqual(['added 1'])
    expect(diff(['a', 'b', 'c'], ['c'])).toEqual(['removed 1', 'removed 0'])
    expect(diff(['a', 'b', 'c'], ['a', 'y', 'c'])).toEqual(['changed 1'])
    expect(diff([], ['a', 'b'])).toEqual(['added 0', 'added 1'])
    expect(diff(['a', 'b', 'c', 'd'], ['x', 'a', 'b', 'c', 'y', 'd', 'z'])).toEqual([
      'added 0',
      'added 4',
      'added 6',
    ])
    expect(diff(['a', 'b', 'c', 'd', 'e'], ['b', 'x', 'c', 'e', 'f'])).toEqual([
      'removed 0',
      'added 1',
      'removed 3',
      'added 4',
    ])
    expect(
      diff([{ a: 1 }, { b: 2, c: 3 }, { d: 4 }], [{ z: 0 }, { a: 1 }, { b: 2 }, { d: 4 }]),
    ).toEqual(['added 0', 'removed 2 c'])
  })

  it('in the middle of a long list, without comparing each with each', () => {
    const items = Array.from({ length: 50_000 }, (_, place) => place)
    const changed = [-1, ...items.slice(0, 25_000), -2, ...items.slice(25_001), -3]
    expect(diff(items, changed)).toEqual(['added 0', 'changed 25001', 'added 50001'])
  })

  it('by place when two long lists have nothing in common', () => {
    const [before, after] = [0, 1].map((rest) =>
      Array.from({ length: 20_000 }, (_, place) => 2 * place + rest),
    )
    expect(diff(['same', before, 'same'], ['same', after, 'same'])).toHaveLength(20_000)
  })

  it('by their id, when each has one and no two the same', () => {
    const aggs = [
      { id: '1', type: 'count' },
      { id: '2', type: 'terms' },
    ]
    expect(diff(aggs, [{ id: '2', type: 'date' }])).toEqual(['removed id=1', 'changed id=2 type'])
    expect(diff([{ id: '1' }, { id: '1' }], [{ id: '1' }])).toEqual(['removed 1'])
  })

  it('by their name among references', () => {
    const reference = (name: string, id: string) => ({ name, type: 'visualization', id })
    const before = { references: [reference('panel_0', 'a'), reference('panel_1', 'b')] }
    const after = { references: [reference('panel_1', 'b'), reference('panel_0', 'c')] }
    expect(diff(before, after)).toEqual([
      'reordered references',
      'changed references name=panel_0 id',
    ])
  })

  it('by place when they are too many to bring into order', () => {
    const items = Array.from({ length: 10_001 }, (_, id) => ({ id }))
    expect(diff(items, items.toReversed()).length).toBe(10_000)
  })
})

describe('panels of a dashboard', () => {
  const panel = (panelIndex: string, x = 0, more: object = {}) => ({
    panelIndex,
    gridData: { x, y: 0, w: 24, h: 15, i: panelIndex },
    ...more,
  })
  const old = (panelIndex: number, col = 1) => ({ panelIndex, col, row: 1, size_x: 6, size_y: 3 })

  it('that lie elsewhere are moved, and nothing else', () => {
    expect(diff([panel('1'), panel('2')], [panel('1'), panel('2', 24)])).toEqual([
      'moved panelIndex=2',
    ])
    expect(diff([old(1), old(2)], [old(1, 7), old(2)])).toEqual(['moved panelIndex=1'])
    const [before, after] = [[panel('1')], [panel('1', 24)]].map((panels) =>
      parseLossless(JSON.stringify(panels)),
    )
    expect(diffValues(before as JsonValue, after as JsonValue).differences).toMatchObject([
      { before: { x: 0, y: 0, width: 24, height: 15 }, after: { x: 24 } },
    ])
  })

  it('that also changed say both', () => {
    expect(diff([panel('1')], [panel('1', 24, { title: 'New' })])).toEqual([
      'moved panelIndex=1',
      'added panelIndex=1 title',
    ])
  })

  it('are matched by their index, at any place in the list', () => {
    expect(
      diff([panel('1'), panel('2'), panel('3')], [panel('3'), panel('4'), panel('1')]),
    ).toEqual(['removed panelIndex=2', 'added panelIndex=4', 'reordered '])
  })

  it('have changed when their place is stored in another form', () => {
    const differences = diff([old(1)], [panel('1')])
    expect(differences).toContain('added panelIndex=1 gridData')
    expect(differences).toContain('removed panelIndex=1 col')
    expect(differences).not.toContain('moved panelIndex=1')
  })
})

describe('two versions of an object', () => {
  const hit = (object: object, source: object = {}) =>
    Buffer.from(
      JSON.stringify({
        _id: 'dashboard:a',
        _source: { type: 'dashboard', dashboard: object, ...source },
      }),
    )
  const panels = (title: string) => JSON.stringify([{ panelIndex: '1', title }])

  it('are compared with nested JSON opened', () => {
    const [before, after] = [{ panelsJSON: panels('A') }, { panelsJSON: panels('B') }]
    const { differences, patch } = diffHits(hit(before), hit(after), 'dashboard')
    expect(differences).toMatchObject([{ kind: 'changed', before: 'A', after: 'B' }])
    expect(patch).toEqual([
      { op: 'replace', path: '/_source/dashboard/panelsJSON/0/title', value: 'B' },
    ])
  })

  it('are compared as text where that cannot be parsed', () => {
    const { differences } = diffHits(hit({ visState: '{' }), hit({ visState: '{"' }), 'dashboard')
    expect(differences).toMatchObject([{ kind: 'changed', before: '{', after: '{"' }])
  })

  it('do not differ when they were touched, or are written in another way', () => {
    const before = hit({ panelsJSON: '[{"a":1,"b":2}]' }, { updated_at: 1 })
    const after = hit({ panelsJSON: '[ {"b":2, "a":1} ]' }, { updated_at: 2, version: 7 })
    expect(diffHits(before, after, 'dashboard')).toMatchObject({ differences: [], patch: [] })
  })
})
