import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, parseLossless } from '../../src/objects/lossless-json.ts'
import { toNdjsonLine } from '../../src/objects/ndjson.ts'
import { parseSavedObject } from '../../src/objects/saved-object.ts'
import { joinMembers, membersText, memberText, stringText } from '../archive/arbitrary-json.ts'

function lineOf(hit: string, type = 'search'): string | undefined {
  return toNdjsonLine(parseSavedObject(Buffer.from(hit), type))
}

const attributes = '{"title":"A","n":12345678901234567890,"x":1.10}'

describe('an NDJSON line', () => {
  it.each([
    [
      'specified',
      `{"_type":"doc","_id":"search:a:b","_source":{"type":"search","search":${attributes}}}`,
    ],
    [
      'newer',
      `{"_id":"search:a:b","_source":{"type":"search","search":${attributes},"references":[]}}`,
    ],
    ['oldest', `{"_type":"search","_id":"a:b","_source":${attributes}}`],
  ])(
    'has the id without its type, and exact attributes, from a hit of the %s form',
    (_form, hit) => {
      expect(lineOf(hit)).toBe(
        `{"id":"a:b","type":"search","attributes":${attributes},"references":[]}`,
      )
    },
  )

  it('keeps references and versions, and writes times as text', () => {
    const source = {
      type: 'search',
      search: { title: 'A' },
      references: [{ name: 'n', type: 'index-pattern', id: 'i' }],
      migrationVersion: { search: '7.9.3' },
      coreMigrationVersion: '7.17.0',
      updated_at: 1600000000000,
      version: 'WzEsMV0=',
      namespaces: ['default'],
    }
    const line = lineOf(JSON.stringify({ _id: 'search:a', _source: source }))
    expect(JSON.parse(line as string)).toEqual({
      id: 'a',
      type: 'search',
      attributes: { title: 'A' },
      references: source.references,
      migrationVersion: source.migrationVersion,
      coreMigrationVersion: '7.17.0',
      updated_at: '2020-09-13T12:26:40.000Z',
    })
  })

  it('leaves out a hit without an object, and a time that is none', () => {
    expect(lineOf('{"_id":"search:a","_source":{"type":"search"}}')).toBeUndefined()
    const odd = '{"_id":"search:a","_source":{"type":"search","search":{},"updated_at":"soon"}}'
    expect(lineOf(odd)).not.toContain('updated_at')
  })

  it('is one line, and gives back the attributes of any object', () => {
    const object = membersText(memberText(stringText)).map(joinMembers)
    fc.assert(
      fc.property(object, stringText, (text, id) => {
        const hit = `{"_id":"search:${id.slice(1)},\n"_source":{"type":"search","search":${text}}}`
        const line = lineOf(hit) as string
        expect(line).not.toMatch(/[\n\r]/)
        const parsed = parseLossless(line) as JsonObject
        expect(parsed.get('attributes')).toEqual(parseLossless(text))
        expect(parsed.get('id')).toBe(JSON.parse(id))
      }),
    )
  })
})
