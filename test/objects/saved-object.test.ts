import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarizeHit } from '../../src/export/hit-summary.ts'
import { fullId, splitId } from '../../src/objects/object-id.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'
import { rawHit } from '../archive/hits.ts'

const attributes = { title: 'Errors', visState: '{}' }

function parse(hit: unknown, type = 'visualization') {
  const {
    hit: whole,
    attributes: members,
    ...rest
  } = parseSavedObject(Buffer.from(JSON.stringify(hit)), type)
  expect(Object.fromEntries(whole)).toHaveProperty('_source')
  return { ...rest, attributes: Object.fromEntries(members) }
}

describe('a hit is read', () => {
  const expected = {
    id: 'visualization:a:b',
    type: 'visualization',
    objectId: 'a:b',
    title: 'Errors',
    attributes,
    references: [],
  }

  it.each(['doc', '_doc', undefined])('in the specified form, its _type being %s', (_type) => {
    const _source = { type: 'visualization', visualization: attributes }
    const hit = { _type, _id: 'visualization:a:b', _source }
    expect(parse(hit)).toEqual({ ...expected, form: 'specified' })
  })

  it('in the newer form, with its references', () => {
    const reference = { name: 'search_0', type: 'search', id: 's' }
    const references = [reference, { name: 'x', type: 'search' }, null, 7]
    const _source = { type: 'visualization', visualization: attributes, references, updated_at: 5 }
    const hit = { _type: '_doc', _id: 'visualization:a:b', _source }
    expect(parse(hit)).toEqual({ ...expected, form: 'newer', references: [reference] })
  })

  it('in the newer form, which has no references but a migrationVersion', () => {
    const _source = { visualization: attributes, migrationVersion: { visualization: '7.0.0' } }
    expect(parse({ _id: 'visualization:a:b', _source })).toEqual({ ...expected, form: 'newer' })
  })

  it('in the oldest form, whose bare id may look like a whole one', () => {
    const hit = { _type: 'visualization', _id: 'a:b', _source: attributes }
    expect(parse(hit)).toEqual({ ...expected, form: 'oldest' })
  })

  it('of another type than the one asked for', () => {
    const hit = { _id: 'search:s', _source: { type: 'search', search: { title: 'S' } } }
    expect(parse(hit)).toMatchObject({ type: 'search', objectId: 's', title: 'S' })
  })

  it('with an empty object id, or none', () => {
    const _source = { type: 'visualization', visualization: attributes }
    const empty = parse({ _id: 'visualization:', _source })
    expect(empty).toMatchObject({ id: 'visualization:', type: 'visualization', objectId: '' })
    const none = parse({ _source })
    expect(none).toMatchObject({ id: '', type: 'visualization', objectId: '', title: 'Errors' })
  })

  it.each([null, 7, '{}', [], {}])('whose _source is %j, as an empty object', (_source) => {
    const object = parse({ _id: 'visualization:a', _source })
    expect(object).toMatchObject({ form: 'other', attributes: {}, references: [] })
    expect(object.title).toBeUndefined()
  })

  it('with the id under which it is indexed, and never fails on sound JSON', () => {
    const names = ['_id', '_type', '_source', 'type', 'search', 'title', '__proto__', 'references']
    const value = fc.letrec<{ any: unknown; object: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'medium' },
        fc.constantFrom(null, true, 0, '', 'search', 'search:a', 'a', '__proto__', 'url:x'),
        fc.array(tie('any'), { maxLength: 2 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
    })).object
    fc.assert(
      fc.property(value, fc.constantFrom('search', 'type'), (hit, type) => {
        const raw = rawHit(JSON.stringify(hit))
        expect(parseSavedObject(raw.bytes, type).id).toBe(summarizeHit(raw, type).id)
      }),
      { numRuns: 500 },
    )
  })
})

describe('an id', () => {
  it.each([
    ['search:a', { type: 'search', objectId: 'a' }],
    ['visualization:BRFSS:-Age', { type: 'visualization', objectId: 'BRFSS:-Age' }],
    ['search:', { type: 'search', objectId: '' }],
    ['bare', undefined],
  ])('%s is cut at its first colon', (id, parts) => {
    expect(splitId(id)).toEqual(parts)
    if (parts !== undefined) expect(fullId(parts.objectId, parts.type, true)).toBe(id)
  })
})
