import { describe, expect, it } from 'vitest'
import { objectState } from '../../src/objects/object-state.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'

function stateOf(source: string, type = 'doc'): string {
  const hit = `{"_type":"${type}","_id":"search:a","_source":${source}}`
  return objectState(parseSavedObject(Buffer.from(hit), 'search'))
}

const plain = '{"type":"search","search":{"title":"A","n":1}}'

describe('the state of an object', () => {
  it.each([
    ['another order of members', '{"search":{"n":1,"title":"A"},"type":"search"}'],
    ['other spacing and escapes', '{ "type":"search", "search":{"title":"\\u0041", "n":1}}'],
    ['a touch', '{"type":"search","updated_at":5,"version":2,"search":{"title":"A","n":1}}'],
    ['no references', '{"type":"search","search":{"title":"A","n":1},"references":[]}'],
  ])('is the same after %s', (_what, source) => {
    expect(stateOf(source)).toBe(stateOf(plain))
  })

  it.each([
    ['another value', '{"type":"search","search":{"title":"A","n":2}}'],
    ['another number', '{"type":"search","search":{"title":"A","n":1.0}}'],
    ['one member more', '{"type":"search","search":{"title":"A","n":1,"x":null}}'],
    ['a reference', `${plain.slice(0, -1)},"references":[{"name":"a","type":"b","id":"c"}]}`],
  ])('is another after %s', (_what, source) => {
    expect(stateOf(source)).not.toBe(stateOf(plain))
  })

  it('leaves out who touched an object of the oldest form', () => {
    const before = stateOf('{"title":"A","_updatedBy":"a@b.example","version":1}', 'search')
    expect(stateOf('{"title":"A","_updatedBy":"c@d.example","version":2}', 'search')).toBe(before)
    expect(stateOf('{"title":"B","_updatedBy":"a@b.example","version":1}', 'search')).not.toBe(
      before,
    )
  })
})
