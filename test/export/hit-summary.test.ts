import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarizeHit } from '../../src/export/hit-summary.ts'
import { createExportScan } from '../../src/export/scan-export.ts'
import { rawHit } from '../archive/hits.ts'

const search = {
  title: 'Errors',
  description: '',
  hits: 0,
  columns: ['message'],
  sort: [['@timestamp', 'desc']],
  version: 1,
  kibanaSavedObjectMeta: { searchSourceJSON: '{}' },
}
const visualization = {
  title: 'Errors by host',
  visState: '{}',
  description: '',
  version: 1,
  kibanaSavedObjectMeta: {},
}
const dashboard = {
  title: 'Shop',
  description: '',
  hits: 0,
  timeRestore: false,
  version: 1,
  panelsJSON: '[]',
  kibanaSavedObjectMeta: {},
}

function read(hit: unknown, type: string) {
  return summarizeHit(rawHit(JSON.stringify(hit)), type)
}

/** A hit in today's form. */
function hitOf(type: string, object: unknown, id = `${type}:a`) {
  return {
    _index: 'x',
    _type: '_doc',
    _id: id,
    _score: 1,
    _source: { type, [type]: object, references: [], updated_at: 5 },
  }
}

describe('a saved object is read from a hit', () => {
  it.each([
    ['search', search],
    ['visualization', visualization],
    ['dashboard', dashboard],
  ])('of a %s as it should be without remarks', (type, object) => {
    const id = `${type}:a`
    expect(read(hitOf(type, object), type)).toEqual({ id, title: object.title, remarks: [] })
  })

  it.each(['doc', '_doc', undefined])('whose _type is %s', (_type) => {
    const hit = { ...hitOf('search', search), _type }
    expect(read(hit, 'search')).toEqual({ id: 'search:a', title: 'Errors', remarks: [] })
  })

  it('whose _source says no type', () => {
    const hit = { _id: 'search:a', _source: { search } }
    expect(read(hit, 'search')).toEqual({ id: 'search:a', title: 'Errors', remarks: [] })
  })

  it('in the oldest form, whose bare id gets its type', () => {
    const hit = { _type: 'search', _id: 'a', _source: { ...search, _createdBy: { name: 'Kim' } } }
    expect(read(hit, 'search')).toEqual({
      id: 'search:a',
      title: 'Errors',
      remarks: ['old-form'],
    })
  })

  it('in the newest form that still names its type in _type', () => {
    const hit = { ...hitOf('search', search), _type: 'search' }
    expect(read(hit, 'search')).toEqual({ id: 'search:a', title: 'Errors', remarks: [] })
  })

  it('of a type that the specification does not know', () => {
    const hit = hitOf('query', { title: 'Slow', query: { language: 'lucene' } })
    expect(read(hit, 'query')).toEqual({ id: 'query:a', title: 'Slow', remarks: [] })
  })

  it('of a visualization that rests on a saved search, or on none', () => {
    for (const savedSearchId of ['a', '', undefined]) {
      const hit = hitOf('visualization', { ...visualization, savedSearchId })
      expect(read(hit, 'visualization').remarks).toEqual([])
    }
  })

  it.each([
    'search:BRFSS:-Age',
    'search:',
    'search:a/b/../c',
    'search:"quoted" \\ %20 *',
    'search:日本語 😀',
    'search:\ud800',
    'search:\u0000\u2028',
    'search:__proto__',
  ])('with the id %j as it is', (id) => {
    const hit = hitOf('search', search, id)
    expect(read(hit, 'search')).toEqual({ id, title: 'Errors', remarks: [] })
    const old = { _type: 'search', _id: id, _source: search }
    expect(read(old, 'search').id).toBe(`search:${id}`)
  })

  it('with no title', () => {
    const { title: _, ...untitled } = search
    expect(read(hitOf('search', untitled), 'search').title).toBeUndefined()
    expect(read(hitOf('search', { ...search, title: 7 }), 'search').title).toBeUndefined()
    expect(read({ _id: 'search:a' }, 'search').title).toBeUndefined()
  })

  it('never fails on sound JSON', () => {
    const names = ['_id', '_type', '_source', 'type', 'search', 'title', '__proto__', 'toString']
    const value = fc.letrec<{ any: unknown; object: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom(null, true, 0, '', 'search', 'search:a', '__proto__', 'constructor'),
        fc.array(tie('any'), { maxLength: 2 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
    })).object
    fc.assert(
      fc.property(value, fc.constantFrom('search', 'constructor', 'type'), (hit, type) => {
        const { id, title, remarks } = read(hit, type)
        expect(typeof id).toBe('string')
        expect(['string', 'undefined']).toContain(typeof title)
        expect(new Set(remarks).size).toBe(remarks.length)
      }),
      { numRuns: 500 },
    )
  })
})

describe('a hit that departs from the specification is kept with a remark', () => {
  const sourceless = { _type: '_doc', _id: 'search:a' }
  const departures: [string, unknown, string[]][] = [
    ['it has no id', { ...hitOf('search', search), _id: undefined }, ['no-id']],
    ['its id is a number', { ...hitOf('search', search), _id: 7 }, ['no-id']],
    ['it has no _source', sourceless, ['no-source']],
    ['its _source is text', { ...sourceless, _source: '{}' }, ['no-source']],
    ['its _source is null', { ...sourceless, _source: null }, ['no-source']],
    ['its _source is an array', { ...sourceless, _source: [search] }, ['no-source']],
    ['its _source is empty', { ...sourceless, _source: {} }, ['no-source']],
    ['its object is an array', { ...sourceless, _source: { search: [] } }, ['no-source']],
    ['it says another type', { _id: 'search:a', _source: { type: 'url' } }, ['other-type']],
    ['its id is of another type', hitOf('dashboard', dashboard, 'dashboard:a'), ['other-type']],
    ['only its id is of another type', { _id: 'url:a', _source: {} }, ['other-type']],
    ['it is of another type in the oldest form', { _type: 'url', _id: 'a' }, ['other-type']],
    [
      'it is of another type in the oldest form with an object',
      { _type: 'dashboard', _id: 'a', _source: dashboard },
      ['other-type'],
    ],
    ['it is empty', {}, ['no-source', 'no-id']],
    [
      'none of its members holds anything',
      hitOf('search', { ...search, title: '', columns: [], sort: [], kibanaSavedObjectMeta: {} }),
      ['no-content'],
    ],
    ['its object is empty', hitOf('search', {}), ['no-content', 'missing-member']],
    [
      'its object is empty in the oldest form',
      { _type: 'search', _id: 'a', _source: { type: 'search', updated_at: 5 } },
      ['old-form', 'no-content', 'missing-member'],
    ],
    ['a member is missing', hitOf('search', { ...search, sort: undefined }), ['missing-member']],
    ['a member is null', hitOf('search', { ...search, columns: null }), ['member-form']],
    ['a member is of another form', hitOf('search', { ...search, hits: '0' }), ['member-form']],
    [
      'one member is missing, one of another form',
      hitOf('search', { ...search, hits: '0', sort: undefined }),
      ['missing-member', 'member-form'],
    ],
    [
      'the oldest form lacks a member',
      { _type: 'search', _id: 'a', _source: { title: 'T' } },
      ['old-form', 'missing-member'],
    ],
  ]

  it.each(departures)('when %s', (_name, hit, remarks) => {
    expect(read(hit, 'search').remarks).toEqual(remarks)
  })

  it('when its bytes are not UTF-8', () => {
    const [before, after] = JSON.stringify(hitOf('search', search)).split('Errors')
    const bytes = [Buffer.from(`${before}`), Uint8Array.of(0xc3, 0x28), Buffer.from(`${after}`)]
    const object = summarizeHit(rawHit(Buffer.concat(bytes)), 'search')
    expect(object).toEqual({ id: 'search:a', title: '\ufffd(', remarks: ['invalid-utf8'] })
  })

  it('and gives the title of the type that it is of', () => {
    expect(read(hitOf('dashboard', dashboard), 'search').title).toBe('Shop')
  })
})

describe('an export is summed up', () => {
  function scan(hits: readonly unknown[]) {
    const seen: string[] = []
    const opened = createExportScan('search', { onObject: ({ id }) => seen.push(id) })
    opened.feed(Buffer.from(JSON.stringify({ kibanaVersion: '7.9.1', hits })))
    return { seen, ...opened.end() }
  }

  it('by its objects in order and the number of each remark', () => {
    const { title: _, ...untitled } = search
    const hits = [
      hitOf('search', search, 'search:b'),
      hitOf('search', untitled, 'search:a'),
      hitOf('search', untitled, 'search:b'),
      hitOf('search', search, 'search:b'),
      { _source: { search } },
    ]
    expect(scan(hits)).toMatchObject({
      seen: ['search:b', 'search:a', 'search:b', 'search:b', ''],
      kibanaVersion: '7.9.1',
      objects: 5,
      remarks: { 'missing-member': 2, 'no-id': 1, 'duplicate-id': 2 },
    })
  })

  it('by its different objects, less the hollow hits among them', () => {
    const hits = [
      ...['a', 'b', 'c', 'c'].map((id) => hitOf('search', search, `search:${id}`)),
      hitOf('search', {}, 'search:d'),
      { _id: 'search:e', _source: null },
      {},
      {},
    ]
    expect(scan(hits)).toMatchObject({ objects: 8, hollow: 4, sound: 3 })
    expect(scan(hits.slice(4))).toMatchObject({ objects: 4, hollow: 4, sound: 0 })
  })

  it.each(['null', 'false', '0', '""', '{ }', '[\n]', ' \t""'])(
    'with %s as no content',
    (value) => {
      const opened = createExportScan('search')
      const hit = `{"_id":"search:a","_source":{"search":{"title":${value},"version":1}}}`
      opened.feed(Buffer.from(`{"kibanaVersion":"7","hits":[${hit}]}`))
      expect(opened.end()).toMatchObject({ objects: 1, hollow: 1, sound: 0 })
    },
  )

  it.each(['true', '7', '-0.5', '"0"', '{"a":1}', '[0]', '" "'])('with %s as content', (value) => {
    const opened = createExportScan('search')
    const hit = `{"_id":"search:a","_source":{"search":{"version":1,"title":${value}}}}`
    opened.feed(Buffer.from(`{"kibanaVersion":"7","hits":[${hit}]}`))
    expect(opened.end()).toMatchObject({ objects: 1, hollow: 0, sound: 1 })
  })

  it('as empty when it holds none', () => {
    expect(scan([])).toMatchObject({ seen: [], objects: 0, remarks: {} })
  })
})
