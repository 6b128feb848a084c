import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  equalJson,
  parseLossless,
  RawNumber,
  stringifyLossless,
} from '../../src/objects/lossless-json.ts'
import { valueText } from '../archive/arbitrary-json.ts'

const numRuns = 1000

describe('JSON is read and written without loss', () => {
  it('of its meaning, for any JSON', () => {
    fc.assert(
      fc.property(valueText, (text) => {
        const written = stringifyLossless(parseLossless(text))
        expect(JSON.parse(written)).toEqual(JSON.parse(text))
        expect(stringifyLossless(parseLossless(written))).toBe(written)
      }),
      { numRuns },
    )
  })

  it('of its text, where that is as short as can be', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(stringifyLossless(parseLossless(text))).toBe(text)
      }),
      { numRuns },
    )
  })

  it.each([
    '9007199254740993',
    '-0',
    '1.10',
    '1E400',
    '12e-7',
    '0.1000000000000000055511151231257827',
    '{"b":1,"a":2,"10":3,"2":4}',
    '{"404":"red","200":"green"}',
    '{"__proto__":{"x":1},"constructor":2}',
    '"\\ud800"',
    '["\u2028","\u007f",{"":null}]',
  ])('of %s', (text) => {
    expect(stringifyLossless(parseLossless(text))).toBe(text)
  })

  it('so that numbers are numbers where they can be', () => {
    expect(parseLossless('[1, -2.5, 1e21]')).toEqual([1, -2.5, expect.any(Object)])
    expect(parseLossless('1e21') instanceof RawNumber).toBe(true)
    expect(parseLossless('123') instanceof RawNumber).toBe(false)
  })

  it('and the last counts of members with the same name', () => {
    expect(stringifyLossless(parseLossless('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}')
  })

  it('over several lines as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(1, 2, 4), (text, indent) => {
        const expected = JSON.stringify(JSON.parse(text), undefined, indent)
        const written = stringifyLossless(parseLossless(text), indent)
        expect(JSON.parse(written)).toEqual(JSON.parse(expected))
        expect(written.length).toBe(expected.length)
      }),
      { numRuns },
    )
  })

  it('with documents made here around it', () => {
    const document = { id: 'a', none: undefined, list: [parseLossless('{"x":1.0}'), null] }
    expect(stringifyLossless(document)).toBe('{"id":"a","list":[{"x":1.0},null]}')
  })
})

describe('a text that is not JSON is refused', () => {
  it('exactly where JSON.parse refuses it', () => {
    const spoiled = fc
      .tuple(valueText, fc.nat(), fc.constantFrom('', ',', '"', '{', ']', '\\', '0', '\u00a0', 'e'))
      .map(([text, at, piece]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + piece + text.slice(place + 1)
      })
    fc.assert(
      fc.property(spoiled, (text) => {
        expect(accepts(parseLossless, text)).toBe(accepts(JSON.parse, text))
      }),
      { numRuns: 3 * numRuns },
    )
  })

  it.each(['', ' ', '{', '"', '"\\"', '01', '+1', '1.', '.5', '[1,]', '{"a":1,}', 'nul', '1 2'])(
    'such as %j',
    (text) => {
      expect(() => parseLossless(text)).toThrow(SyntaxError)
    },
  )

  it('and so is nesting without end', () => {
    expect(() => parseLossless('['.repeat(1_000_000))).toThrow(SyntaxError)
    expect(() => parseLossless('{"a":'.repeat(1_000_000))).toThrow(SyntaxError)
  })
})

describe('values are equal', () => {
  it('when they mean the same, in any order of members', () => {
    const [a, b] = ['{"a":[1,{"b":2.0}],"c":"x"}', '{"c":"x","a":[1,{"b":2.0}]}'].map(parseLossless)
    expect(equalJson(a, b)).toBe(true)
  })

  it.each([
    ['1', '1.0'],
    ['1', '"1"'],
    ['[1,2]', '[2,1]'],
    ['{"a":1}', '{"a":1,"b":1}'],
    ['{"a":1}', '{"b":1}'],
    ['9007199254740993', '9007199254740992'],
    ['null', '{}'],
    ['[]', '{}'],
  ])('but %s is not %s', (a, b) => {
    expect(equalJson(parseLossless(a), parseLossless(b))).toBe(false)
    expect(equalJson(parseLossless(b), parseLossless(a))).toBe(false)
  })
})

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}
