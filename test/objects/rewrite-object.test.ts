import { describe, expect, it } from 'vitest'
import { stringifyLossless } from '../../src/objects/lossless-json.ts'
import { type Rename, rewriteObject } from '../../src/objects/rewrite-object.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'

/** Every known object gets `new-` before its id, every known index pattern `other-`. */
const known = new Set([
  'visualization:v',
  'search:s',
  'dashboard:d',
  'dashboard:a b',
  'dashboard:x)y',
])
const patterns = new Set(['name logs-*', 'id p1'])

const rename: Rename = {
  object: (type, id) => (known.has(`${type}:${id}`) ? `new-${id}` : id),
  pattern: (text, key) => (patterns.has(`${key} ${text}`) ? `other-${text}` : text),
}

function rewriteText(type: string, hit: string, titlePrefix = ''): string {
  const object = parseSavedObject(Buffer.from(hit), type)
  const retitle = (title: string) => titlePrefix + title
  return stringifyLossless(rewriteObject(object, { rename, retitle }))
}

/** Rewrites the members of a visualization, with and without a place for nested JSON. */
function rewritten(attributes: object, type = 'visualization'): Record<string, unknown> {
  const hit = { _id: `${type}:u`, _source: { type, [type]: attributes } }
  return JSON.parse(rewriteText(type, JSON.stringify(hit)))._source[type]
}

describe('the own id and the title', () => {
  it.each([
    ['specified', '{"_id":"dashboard:d","_source":{"type":"dashboard","dashboard":{"title":"T"}}}'],
    ['oldest', '{"_type":"dashboard","_id":"d","_source":{"title":"T"}}'],
    [
      'newer',
      '{"_id":"dashboard:d","_source":{"id":"d","type":"dashboard","references":[],"dashboard":{"title":"T"}}}',
    ],
  ])('change in the %s form, and nothing else', (_form, hit) => {
    const expected = hit.replaceAll(/(dashboard:|"id":"|"_id":")(d")/g, '$1new-$2')
    expect(rewriteText('dashboard', hit, '[A] ')).toBe(expected.replace('"T"', '"[A] T"'))
  })

  it('leave a title that is not text', () => {
    const hit = '{"_id":"search:u","_source":{"type":"search","search":{"title":["T"]}}}'
    expect(rewriteText('search', hit, '[A] ')).toBe(hit)
  })

  it('leave a hit without an object', () => {
    for (const hit of ['{"_id":"search:u"}', '{"_id":"search:u","_source":{"type":"search"}}']) {
      expect(rewriteText('search', hit, '[A] ')).toBe(hit)
    }
  })
})

describe('references to objects', () => {
  it.each([
    ['references', [{ name: 'n', type: 'visualization', id: 'v' }]],
    ['panelsJSON', JSON.stringify([{ panelIndex: '1', type: 'visualization', id: 'v' }])],
    [
      'panelsJSON',
      JSON.stringify([
        { embeddableConfig: { attributes: { references: [{ type: 'visualization', id: 'v' }] } } },
      ]),
    ],
    ['savedVisId', 'v'],
    ['config', { deep: [{ savedVisId: 'v' }] }],
  ])('change in %s', (member, value) => {
    const after = JSON.stringify(rewritten({ [member]: value })[member])
    expect(after).toBe(JSON.stringify(value).replaceAll(/v(\\*"\W*$)/g, 'new-v$1'))
    expect(after).toContain('new-v')
  })

  it('change in savedSearchId and in the panel that shows a drilldown', () => {
    expect(rewritten({ savedSearchId: 's', config: { dashboardId: 'd' } })).toEqual({
      savedSearchId: 'new-s',
      config: { dashboardId: 'new-d' },
    })
  })

  it('stay when they name an object of another type, or an unknown one', () => {
    const attributes = {
      savedSearchId: 'v',
      references: [
        { name: 'n', type: 'search', id: 'v' },
        { type: 'tag', id: 'v' },
        'v',
        { id: 'v' },
      ],
      panelsJSON: JSON.stringify([{ id: 'v' }, { type: 'search', id: 'v' }, { type: 1, id: 'v' }]),
      id: 'v',
      description: 'v',
    }
    expect(rewritten(attributes)).toEqual(attributes)
  })
})

describe('links', () => {
  it.each([
    ['[A](#/dashboard/d)', '[A](#/dashboard/new-d)'],
    [
      '[A](#/dashboard/d), [B](/app/kibana#/dashboard/d?_g=(time:1))',
      '[A](#/dashboard/new-d), [B](/app/kibana#/dashboard/new-d?_g=(time:1))',
    ],
    ['/app/dashboards#/view/d', '/app/dashboards#/view/new-d'],
    ['/app/discover#/view/s', '/app/discover#/view/new-s'],
    ['<a href="#/visualize/edit/v">', '<a href="#/visualize/edit/new-v">'],
    ['/app/visualize#/edit/v', '/app/visualize#/edit/new-v'],
    ['#/discover/s.', '#/discover/new-s.'],
    ['(#/dashboard/d),(#/dashboard/d)', '(#/dashboard/new-d),(#/dashboard/new-d)'],
    ['#/dashboard/#/dashboard/d', '#/dashboard/#/dashboard/new-d'],
    ['[A](#/dashboard/a%20b)', '[A](#/dashboard/new-a%20b)'],
    ['[A](#/dashboard/x)y)', '[A](#/dashboard/new-x)y)'],
  ])('change in %s', (text, expected) => {
    const state = (markdown: string) => JSON.stringify({ type: 'markdown', params: { markdown } })
    expect(rewritten({ visState: state(text) })).toEqual({ visState: state(expected) })
    expect(rewritten({ description: text })).toEqual({ description: expected })
  })

  it.each([
    '#/dashboard/dd',
    '#/dashboard/',
    '#/dashboard/d%',
    'dashboard/d',
    '#/view/v',
    `#/dashboard/${'d'.repeat(600)}`,
  ])('stay in %s', (text) => {
    expect(rewritten({ description: text })).toEqual({ description: text })
  })

  it.each([
    ['links', '#/dashboard/', 100_000],
    ['brackets', ')', 12_000_000],
    ['links with many places where an id may end', `#/dashboard/${'.'.repeat(480)} `, 8000],
  ])(
    'are found behind megabytes of %s',
    (_what, part, times) => {
      const text = `#/dashboard/${part.repeat(times)} #/dashboard/`
      expect(rewritten({ description: `${text}d` }).description === `${text}new-d`).toBe(true)
    },
    8000,
  )
})

describe('index patterns', () => {
  it.each([
    {
      kibanaSavedObjectMeta: {
        searchSourceJSON: { index: 'p1', filter: [{ meta: { index: 'p1' } }] },
      },
    },
    { visState: { params: { index_pattern: 'logs-*', default_index_pattern: 'logs-*' } } },
    {
      visState: {
        params: { index_pattern: { id: 'p1' }, series: [{ series_index_pattern: 'logs-*' }] },
      },
    },
    { visState: { params: { annotations: [{ index_pattern: 'logs-*' }] } } },
    { visState: { params: { controls: [{ indexPattern: 'p1' }] } } },
    { references: [{ name: 'n', type: 'index-pattern', id: 'p1' }] },
    {
      panelsJSON: [{ embeddableConfig: { savedVis: { data: { searchSource: { index: 'p1' } } } } }],
    },
    {
      panelsJSON: [
        {
          embeddableConfig: { attributes: { state: { layers: { a: { indexPatternId: 'p1' } } } } },
        },
      ],
    },
    {
      panelsJSON: [
        {
          embeddableConfig: {
            attributes: { layerListJSON: '[{"sourceDescriptor":{"indexPatternId":"p1"}}]' },
          },
        },
      ],
    },
    { controlGroupInput: { panelsJSON: { a: { explicitInput: { dataViewId: 'p1' } } } } },
  ])('change in %j', (attributes) => {
    const nest = (value: object): object =>
      Object.fromEntries(
        Object.entries(value).map(([name, inner]) => {
          if (typeof inner !== 'object') return [name, inner]
          if (name === 'kibanaSavedObjectMeta' || name === 'controlGroupInput')
            return [name, nest(inner)]
          return [name, /JSON$|^visState$/.test(name) ? JSON.stringify(inner) : inner]
        }),
      )
    const expected = JSON.stringify(nest(attributes)).replaceAll(
      /(logs-\*|p1)(?=\\*")/g,
      'other-$1',
    )
    expect(JSON.stringify(rewritten(nest(attributes)))).toBe(expected)
    expect(expected).toContain('other-')
  })

  it('stay where a member of that name is something else', () => {
    const attributes = {
      index: 'p1',
      columns: ['p1'],
      title: 'p1',
      visState: JSON.stringify({
        aggs: [{ index: 'p1' }],
        params: { index_pattern: '', controls: [{ indexPattern: 'logs-*' }] },
      }),
    }
    expect(rewritten(attributes)).toEqual(attributes)
  })
})

describe('everything else', () => {
  const odd =
    '{"_index":".kibana","_id":"dashboard:d","_score":1.10,"_source":{"type":"dashboard","updated_at":9007199254740993,"unknown":{"404":1e2,"a":-0,"__proto__":[null,true]},"dashboard":{"title":"T","big":12345678901234567890,"half":"\\ud800","panelsJSON":"[{\\"type\\":\\"visualization\\",\\"id\\":\\"v\\",\\"big\\":9007199254740993,\\"x\\":1.0}]"}},"sort":[1]}'

  it('keeps large numbers, order, odd members and lone surrogates, also in nested text', () => {
    const expected = odd
      .replace('dashboard:d"', 'dashboard:new-d"')
      .replace('\\"v\\"', '\\"new-v\\"')
    expect(rewriteText('dashboard', odd)).toBe(expected)
  })

  it('keeps the white space of nested text in which nothing changes', () => {
    const panelsJSON = '[ {"type": "visualization",\n "id": "other", "n": 1.0} ]'
    expect(rewritten({ panelsJSON }, 'dashboard')).toEqual({ panelsJSON })
  })

  it.each(['', '{', 'null', '"text"', '[[[', '{"a":1}}'])(
    'keeps nested text such as %j',
    (text) => {
      const attributes = { visState: text, panelsJSON: text, optionsJSON: text }
      expect(rewritten(attributes)).toEqual(attributes)
    },
  )
})
