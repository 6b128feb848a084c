import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeContent } from '../../src/objects/describe-content.ts'
import { makeObject } from './dashboards.ts'

const sourceOf = (source: object) => ({
  kibanaSavedObjectMeta: { searchSourceJSON: JSON.stringify(source) },
})

describe('a visualization', () => {
  it('has a kind, fields, aggregations, query and filters', () => {
    const visState = {
      type: 'pie',
      aggs: [
        { id: '1', type: 'avg', schema: 'metric', params: { field: 'bytes', customLabel: 'Size' } },
        {
          id: '2',
          enabled: false,
          type: 'terms',
          schema: 'segment',
          params: { field: 'host', size: 5, order: 'desc', orderBy: '1' },
        },
        {
          id: '3',
          type: 'filters',
          schema: 'group',
          params: { filters: [{ input: { query: 'a:1' }, label: 'One' }] },
        },
      ],
    }
    const source = {
      index: 'logs-*',
      query: { language: 'kuery', query: 'status: 500' },
      filter: [{ meta: { key: 'env', negate: true, params: { query: 'test' } }, query: {} }],
    }
    const object = makeObject('visualization', 'v', {
      visState: JSON.stringify(visState),
      savedSearchId: 's1',
      ...sourceOf(source),
    })
    expect(describeContent(object)).toMatchObject({
      kind: 'pie',
      index: 'logs-*',
      savedSearch: 's1',
      query: { language: 'kuery', text: 'status: 500' },
      filters: ['NOT env: test'],
      aggregations: [
        { name: 'avg', field: 'bytes', role: 'metric', label: 'Size', isEnabled: true },
        { field: 'host', isEnabled: false, details: ['size 5', 'order desc by avg bytes'] },
        { details: ['filter One: a:1'] },
      ],
    })
  })

  it('of the newer form finds index pattern and search in its references', () => {
    const references = [
      { name: 'kibanaSavedObjectMeta.searchSourceJSON.index', type: 'index-pattern', id: 'p1' },
      { name: 'search_0', type: 'search', id: 's1' },
    ]
    const indexRefName = 'kibanaSavedObjectMeta.searchSourceJSON.index'
    const object = makeObject(
      'visualization',
      'v',
      {
        visState: '{"type":"line"}',
        savedSearchRefName: 'search_0',
        ...sourceOf({ indexRefName }),
      },
      references,
    )
    expect(describeContent(object)).toMatchObject({ index: 'p1', savedSearch: 's1' })
  })

  it('of time series, controls and text has its series, controls and text', () => {
    const of = (type: string, params: object) =>
      describeContent(
        makeObject('visualization', 'v', { visState: JSON.stringify({ type, params }) }),
      )
    const metrics = [
      { id: 'm1', type: 'max', field: 'cpu' },
      { id: 'm2', type: 'derivative', field: 'm1' },
    ]
    const series = [{ label: 'CPU', metrics, split_mode: 'terms', terms_field: 'host' }]
    expect(
      of('metrics', { type: 'timeseries', index_pattern: 'm-*', series, filter: 'a:b' }),
    ).toMatchObject({
      kind: 'metrics timeseries',
      index: 'm-*',
      query: { text: 'a:b' },
      aggregations: [
        { role: 'series', name: 'max, derivative', field: 'cpu', details: ['split by terms host'] },
      ],
    })
    expect(of('input_control_vis', { controls: [{ fieldName: 'a', type: 'list' }] })).toMatchObject(
      { aggregations: [{ role: 'control', field: 'a' }] },
    )
    expect(of('markdown', { markdown: '# Hi' })).toMatchObject({
      text: { name: 'markdown', text: '# Hi' },
    })
  })
})

describe('a search', () => {
  it.each([
    [['time', 'desc'], [{ field: 'time', direction: 'desc' }]],
    [
      [
        ['a', 'asc'],
        ['b', 'desc'],
      ],
      [{ field: 'a' }, { field: 'b' }],
    ],
    [[], []],
  ])('reads the sort order %j', (sort, expected) => {
    const object = makeObject('search', 's', { columns: ['a'], sort })
    expect(describeContent(object)).toMatchObject({ columns: ['a'], sort: expected })
  })

  it.each([
    [{ query_string: { query: 'type: dns' } }, { language: 'lucene', text: 'type: dns' }],
    [{ language: 'lucene', query: { query_string: { query: '*' } } }, { text: '*' }],
    [{ language: 'kuery', query: '' }, undefined],
    [{ language: 'kuery' }, undefined],
    [{ match_all: {} }, { language: 'dsl', text: '{"match_all":{}}' }],
    ['plain', { text: 'plain' }],
  ])('reads the query %j', (query, expected) => {
    const object = makeObject('search', 's', { columns: [], ...sourceOf({ query }) })
    const description = describeContent(object)
    if (expected === undefined) expect(description?.query).toBeUndefined()
    else expect(description?.query).toMatchObject(expected)
  })
})

describe('an object that cannot be read', () => {
  it('has no description', () => {
    expect(describeContent(makeObject('visualization', 'v', { visState: '{' }))).toBeUndefined()
    expect(describeContent(makeObject('search', 's', {}))).toBeUndefined()
    expect(describeContent(makeObject('dashboard', 'd', {}))).toBeUndefined()
  })

  it('does not throw for any JSON in its members', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (one, other, third) => {
        const aggs = [{ type: 'terms', params: other }, one]
        const params = { series: [other], controls: [third], filter: one, ...(one as object) }
        const visState = JSON.stringify({ type: 'metrics', aggs, params })
        describeContent(
          makeObject('visualization', 'v', {
            visState,
            ...sourceOf({ query: other, filter: [third, one] }),
          }),
        )
        describeContent(
          makeObject('search', 's', { columns: one, sort: other, ...sourceOf({ query: third }) }),
        )
      }),
    )
  })
})
