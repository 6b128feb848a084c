import { describe, expect, it } from 'vitest'
import { findNeeds } from '../../src/objects/references.ts'
import { parseSavedObject, type SavedObject } from '../../src/objects/saved-object.ts'

function parse(type: string, object: object, more: object = {}): SavedObject {
  const hit = { _type: 'doc', _id: `${type}:a`, _source: { type, [type]: object, ...more } }
  return parseSavedObject(Buffer.from(JSON.stringify(hit)), type)
}

/** The first object of the oldest form. */
function parseOldest(type: string, object: object): SavedObject {
  return parseSavedObject(
    Buffer.from(JSON.stringify({ _type: type, _id: 'a', _source: object })),
    type,
  )
}

function panels(...items: object[]): object {
  return { panelsJSON: JSON.stringify(items) }
}

function searchSource(source: object): object {
  return { kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify(source) } }
}

const place = 'kibanaSavedObjectMeta.searchSourceJSON'

describe('old-style ids', () => {
  it('are found in the panels of a dashboard', () => {
    const dashboard = panels(
      { panelIndex: 1, type: 'visualization', id: 'v:1' },
      { panelIndex: 2, title: 'no object of its own' },
      { panelIndex: 3, type: 'search', id: 's 1', columns: [] },
    )
    const references = [
      { name: 'panel_0', type: 'visualization', id: 'v:1' },
      { name: 'panel_2', type: 'search', id: 's 1' },
    ]
    expect(findNeeds(parse('dashboard', dashboard))).toMatchObject({ references, unexplained: [] })
    expect(findNeeds(parseOldest('dashboard', dashboard)).references).toEqual(references)
  })

  it('are found in a saved search and in index patterns', () => {
    const visualization = {
      savedSearchId: 's1',
      ...searchSource({ index: 'logs-*', filter: [{}, { meta: { index: 'other-*' } }] }),
      visState: JSON.stringify({ params: { controls: [{ indexPattern: 'third-*' }] } }),
    }
    expect(findNeeds(parse('visualization', visualization)).references).toEqual([
      { name: 'search_0', type: 'search', id: 's1' },
      { name: `${place}.index`, type: 'index-pattern', id: 'logs-*' },
      { name: `${place}.filter[1].meta.index`, type: 'index-pattern', id: 'other-*' },
      { name: 'control_0_index_pattern', type: 'index-pattern', id: 'third-*' },
    ])
  })

  it('name an object once', () => {
    const twice = panels({ type: 'visualization', id: 'v' }, { type: 'visualization', id: 'v' })
    expect(findNeeds(parse('dashboard', twice)).references).toHaveLength(1)
  })

  it('take no name that references has already', () => {
    const references = [{ name: 'panel_0', type: 'search', id: 's' }]
    const mixed = parse('dashboard', panels({ type: 'visualization', id: 'v' }), { references })
    expect(findNeeds(mixed).references).toEqual([
      ...references,
      { name: 'panel_0_', type: 'visualization', id: 'v' },
    ])
  })
})

describe('the newer form', () => {
  it('names everything in references, panels by either kind of name', () => {
    const references = [
      { name: 'panel_0', type: 'visualization', id: 'v' },
      { name: '9c:panel_9c', type: 'lens', id: 'l' },
      { name: 'tag-1', type: 'tag', id: 't' },
    ]
    const dashboard = panels(
      { panelIndex: '1', panelRefName: 'panel_0' },
      { panelIndex: '9c', panelRefName: 'panel_9c' },
    )
    const object = parse('dashboard', dashboard, { references })
    expect(findNeeds(object)).toMatchObject({ references, unexplained: [] })
  })

  it('returns the names that no reference explains', () => {
    const object = parse(
      'visualization',
      { savedSearchRefName: 'search_0', ...searchSource({ indexRefName: 'i' }) },
      { references: [{ name: 'i', type: 'index-pattern', id: 'x' }] },
    )
    expect(findNeeds(object).unexplained).toEqual(['search_0'])
    expect(findNeeds(parse('dashboard', panels({ panelRefName: 'panel_3' }))).unexplained).toEqual([
      'panel_3',
    ])
  })
})

describe('what cannot be read', () => {
  it.each([
    ['empty text', { panelsJSON: '', visState: '', kibanaSavedObjectMeta: {} }],
    ['broken text', { panelsJSON: '[{"type":', visState: '{', ...{ kibanaSavedObjectMeta: 1 } }],
    ['other forms', { ...panels([], null as never), savedSearchId: 7, visState: '[]' }],
    ['empty ids', { ...panels({ type: 'search', id: '' }), savedSearchId: '' }],
    ['an index that is no id', searchSource({ index: { title: 'x' }, filter: { meta: 1 } })],
  ])('points to nothing: %s', (_what, object) => {
    expect(findNeeds(parse('dashboard', object))).toMatchObject({ references: [], unexplained: [] })
  })
})
