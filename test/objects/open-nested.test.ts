import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type JsonObject,
  parseLossless,
  stringifyLossless,
} from '../../src/objects/lossless-json.ts'
import { comparableView, openNested } from '../../src/objects/open-nested.ts'
import { valueText } from '../archive/arbitrary-json.ts'

function open(value: unknown): unknown {
  return JSON.parse(stringifyLossless(openNested(parseLossless(JSON.stringify(value)))))
}

describe('nested JSON text is opened', () => {
  it.each(['visState', 'panelsJSON', 'optionsJSON', 'uiStateJSON', 'searchSourceJSON'])(
    'in %s',
    (name) => {
      expect(open({ [name]: '{"a":[1]}' })).toEqual({ [name]: { a: [1] } })
      expect(open([{ deep: { [name]: ' [{}] ' } }])).toEqual([{ deep: { [name]: [{}] } }])
    },
  )

  it('also inside what has been opened', () => {
    const searchSourceJSON = JSON.stringify({ filter: [] })
    const panelsJSON = JSON.stringify([{ embeddableConfig: { attributes: { searchSourceJSON } } }])
    expect(open({ panelsJSON })).toEqual({
      panelsJSON: [{ embeddableConfig: { attributes: { searchSourceJSON: { filter: [] } } } }],
    })
  })

  it.each(['', '{', 'null', '7', '"text"', '{"a":1}x', '[1,]'])('but %j stays text', (visState) => {
    expect(open({ visState })).toEqual({ visState })
  })

  it('but what people wrote themselves stays text', () => {
    const members = { title: '{}', description: '[1]', spec: '{"data":[]}', markdown: '{"a":1}' }
    expect(open(members)).toEqual(members)
  })

  it('without a change to what is given', () => {
    fc.assert(
      fc.property(valueText, valueText, (text, other) => {
        const json = JSON.stringify({ visState: text, list: [{ panelsJSON: other }] })
        const value = parseLossless(json)
        openNested(value)
        expect(stringifyLossless(value)).toBe(json)
      }),
    )
  })
})

describe('two hits of the same object', () => {
  const view = (hit: object) =>
    stringifyLossless(comparableView(parseLossless(JSON.stringify(hit)) as JsonObject))
  const hit = (changes: object, source: object = {}) => ({
    _index: 'a',
    _id: 'search:a',
    _score: 1,
    ...changes,
    _source: { type: 'search', search: { version: 1, visState: '{}' }, updated_at: 1, ...source },
  })

  it('look the same when they were only found or touched at another time', () => {
    const one = view(hit({}))
    expect(view(hit({ _index: 'b', _score: 2 }))).toBe(one)
    expect(view(hit({}, { updated_at: 2, version: 'x', _updatedAt: 3 }))).toBe(one)
    expect(one).toBe(
      '{"_id":"search:a","_source":{"type":"search","search":{"version":1,"visState":{}}}}',
    )
  })

  it('look different when anything else differs', () => {
    expect(view(hit({ _type: 'doc' }))).not.toBe(view(hit({})))
    expect(view(hit({}, { search: { version: 2 } }))).not.toBe(view(hit({})))
  })
})
