import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stableBytes } from '../../src/export/content-digest.ts'
import { fromEditable, toEditable } from '../../src/objects/editable-object.ts'
import { joinMembers, membersText, memberText, stringText } from '../archive/arbitrary-json.ts'
import { rawHit } from '../archive/hits.ts'

function stable(hit: string | Uint8Array): string {
  return Buffer.from(stableBytes(rawHit(hit))).toString()
}

function opened(hit: object | string) {
  return JSON.parse(toEditable(Buffer.from(typeof hit === 'string' ? hit : JSON.stringify(hit))))
}

const panels = [{ panelIndex: 1, id: 'a' }]

function hitWith(dashboard: object): object {
  return {
    ...{ _index: 'a', _type: 'doc', _id: 'dashboard:x', _score: 2 },
    _source: { type: 'dashboard', dashboard },
  }
}

describe('a file for git', () => {
  it('contains parsed nested JSON, and nothing that differs between two exports', () => {
    expect(opened(hitWith({ panelsJSON: JSON.stringify(panels) }))).toEqual({
      hit: {
        _type: 'doc',
        _id: 'dashboard:x',
        _source: { type: 'dashboard', dashboard: { panelsJSON: panels } },
      },
      nested: { '/_source/dashboard/panelsJSON': 0 },
    })
  })

  it('remembers how nested text was indented', () => {
    const hit = hitWith({ optionsJSON: JSON.stringify({ a: [1] }, undefined, 2) })
    expect(opened(hit).nested).toEqual({ '/_source/dashboard/optionsJSON': 2 })
  })

  it.each([
    ['odd spacing', '{ "a": 1}'],
    ['a member twice', '{"a":1,"a":2}'],
    ['needless escapes', '{"a":"\\u0041"}'],
    ['broken text', '{"a":'],
    ['empty text', ''],
  ])('leaves nested text with %s as it is', (_what, uiStateJSON) => {
    const file = opened(hitWith({ uiStateJSON }))
    expect(file.hit._source.dashboard.uiStateJSON).toBe(uiStateJSON)
    expect(file.nested).toEqual({})
  })

  it('keeps a hit of unusual spelling whole', () => {
    expect(opened('{ "_id": "a" }')).toEqual({ text: '{ "_id": "a" }' })
    const bytes = Buffer.concat([Buffer.from('{"_id":"'), Buffer.of(0xff), Buffer.from('"}')])
    expect(fromEditable(toEditable(bytes))).toEqual(bytes)
  })

  it('converts edited members to text, and ignores removed ones', () => {
    const file = toEditable(
      Buffer.from(JSON.stringify(hitWith({ panelsJSON: JSON.stringify(panels), visState: '{}' }))),
    )
    const edited = JSON.parse(file)
    edited.hit._source.dashboard.panelsJSON[0].id = 'b'
    delete edited.hit._source.dashboard.visState
    const hit = JSON.parse(Buffer.from(fromEditable(JSON.stringify(edited))).toString())
    expect(hit._source.dashboard).toEqual({ panelsJSON: '[{"panelIndex":1,"id":"b"}]' })
  })

  it.each(['', 'null', '{}', '{"hit":1,"nested":{}}', '{"hit":{}}'])('is not %j', (text) => {
    expect(() => fromEditable(text)).toThrow(SyntaxError)
  })

  const name = fc.oneof(
    fc.constantFrom('"panelsJSON"', '"visState"', '"a/b"', '"~1"', '"title"', '"_source"'),
    stringText,
  )
  const inner = membersText(memberText(name)).map(joinMembers)
  const text = fc.oneof(
    inner.map((json) => JSON.stringify(json)),
    inner.map((json) => JSON.stringify(JSON.stringify(JSON.parse(json), undefined, 2))),
    inner.map((json) => JSON.stringify(JSON.stringify(JSON.parse(json)))),
    stringText,
  )

  it('gives back the stable bytes of every hit', () => {
    const compact = fc.uniqueArray(fc.tuple(name, fc.oneof(text, inner)), {
      maxLength: 4,
      selector: ([key]) => JSON.parse(key) as string,
    })
    const hit = compact.map(
      (members) =>
        `{"_index":"x","_id":"a","_source":{"dashboard":{${members.map((member) => member.join(':')).join(',')}}},"_score":1}`,
    )
    fc.assert(
      fc.property(hit, (bytes) => {
        expect(stable(fromEditable(toEditable(Buffer.from(bytes))))).toBe(stable(bytes))
      }),
      { numRuns: 500 },
    )
  })

  it('gives back the stable bytes of hits of any spelling', () => {
    fc.assert(
      fc.property(membersText(memberText(stringText, text)).map(joinMembers), (bytes) => {
        expect(stable(fromEditable(toEditable(Buffer.from(bytes))))).toBe(stable(bytes))
      }),
    )
  })
})
