import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRecords, RECORD_BYTES, type Records } from '../../src/export/records.ts'

/** Texts of 32 characters, one byte each, of which many begin alike. */
const record = fc
  .tuple(fc.constantFrom('', '\u0000', '\u0080', '\u00ff'.repeat(20)), fc.integer({ min: 0 }))
  .map(([start, number]) => (start + number.toString(36)).padEnd(RECORD_BYTES, 'a'))

function recordsOf(texts: readonly string[], cut = 16): Records {
  const records = createRecords()
  for (const text of texts) records.add(text.slice(0, cut), text.slice(cut))
  return records
}

function textsOf(records: Records): string[] {
  return Array.from({ length: records.count }, (_, at) => records.text(at, 0, RECORD_BYTES))
}

it('returns records as they were added, in whichever two parts', () => {
  fc.assert(
    fc.property(fc.array(record), fc.integer({ min: 0, max: RECORD_BYTES }), (texts, cut) => {
      expect(textsOf(recordsOf(texts, cut))).toEqual(texts)
    }),
  )
})

it('sorts records by their bytes', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 200 }), (texts) => {
      const records = recordsOf(texts)
      records.sort()
      const sorted = texts.toSorted()
      expect(textsOf(records)).toEqual(sorted)
      expect(Buffer.concat(records.pieces()).toString('latin1')).toBe(sorted.join(''))
    }),
  )
})

it('sorts more records than one block holds, many of them the same', () => {
  const texts = Array.from({ length: 5_000 }, (_, at) => `${(at * 7919) % 600}`.padStart(32, '0'))
  const records = recordsOf(texts)
  records.sort()
  expect(textsOf(records)).toEqual(texts.toSorted())
})
