import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanLine, cleanStrings, escapeHidden } from '../src/clean-text.ts'

/** Written out, so that it does not depend on the expression under test. */
const dangerous = [
  ...[...Array(32).keys(), ...Array.from({ length: 33 }, (_, index) => 0x7f + index)],
  ...[0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f],
  ...[0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2064, 0x2066, 0x2067],
  ...[0x2068, 0x2069, 0x206f, 0x3164, 0xfe00, 0xfeff, 0xffa0, 0xfff9, 0xfffb],
  ...[0xe0001, 0xe0020, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xd800, 0xdfff],
].map((code) => String.fromCodePoint(code))

const arbitraryText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...dangerous),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('ä', '漢字', '😀', '⚠\ufe0f', 'مرحبا', ' ', 'all good', '\u001b[2J', '\r\n'),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''))

function holdsDangerous(text: string): boolean {
  return !text.isWellFormed() || dangerous.some((one) => one.isWellFormed() && text.includes(one))
}

describe('cleanLine', () => {
  it.each(dangerous.map((character) => [character.codePointAt(0)?.toString(16), character]))(
    'leaves nothing of U+%s',
    (_, character) => {
      expect(cleanLine(`a${character}b`)).toMatch(/^a[ \ufffd]b$/)
    },
  )

  it('keeps what people write, emoji with their colours too', () => {
    for (const text of ['Bücher & <b>', '漢字かな', 'مرحبا', '⚠\ufe0f 😀👍🏽', "it's 5 € – ok…"]) {
      expect(cleanLine(text)).toBe(text)
    }
  })

  it('makes one short clean line of any text, and the same of that again', () => {
    fc.assert(
      fc.property(arbitraryText, fc.integer({ min: 1, max: 40 }), (text, maxLength) => {
        const clean = cleanLine(text, maxLength)
        expect(holdsDangerous(clean)).toBe(false)
        expect(clean.length).toBeLessThanOrEqual(maxLength)
        expect(cleanLine(clean, maxLength)).toBe(clean)
      }),
    )
  })

  it('takes the middle out of a text of a megabyte', () => {
    const clean = cleanLine(`Cannot use ${'A'.repeat(1_000_000)}: it is too long`)
    expect(clean).toMatch(/^Cannot use A+…A+: it is too long$/)
    expect(clean).toHaveLength(2000)
  })
})

describe('cleanStrings', () => {
  it('cleans every string, however deep, and nothing else', () => {
    const date = new Date(0)
    const value = { a: ['x\ny', { b: '\u202e' }], n: 1, none: undefined, no: null, date }
    expect(cleanStrings(value)).toEqual({ ...value, a: ['x y', { b: '\ufffd' }] })
  })
})

describe('escapeHidden', () => {
  it('keeps the data of any JSON and shows no hidden character', () => {
    fc.assert(
      fc.property(fc.dictionary(arbitraryText, arbitraryText), (value) => {
        const json = escapeHidden(JSON.stringify(value))
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(holdsDangerous(json)).toBe(false)
      }),
    )
  })

  it('keeps the lines of an indented document', () => {
    expect(escapeHidden(JSON.stringify({ a: '\u202e' }, undefined, 2))).toBe(
      '{\n  "a": "\\u202e"\n}',
    )
  })
})
