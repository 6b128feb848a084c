import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRecords, RECORD_BYTES, type Records, sortRecords } from '../../src/export/records.ts'

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
      const records = sortRecords(recordsOf(texts))
      const sorted = texts.toSorted()
      expect(textsOf(records)).toEqual(sorted)
      expect(Buffer.concat(records.pieces()).toString('latin1')).toBe(sorted.join(''))
    }),
  )
})

it.each([
  ['that differ', 40_000],
  ['of which many are the same', 600],
  ['that are all the same', 1],
])('sorts more records %s than are sorted at once', (_, different) => {
  const numbers = Array.from({ length: 40_000 }, (_, at) => (at * 7919) % different)
  const texts = numbers.map((number) => `${number}`.padStart(RECORD_BYTES, '0'))
  expect(textsOf(sortRecords(recordsOf(texts)))).toEqual(texts.toSorted())
})

it('frees the memory of discarded records at once', () => {
  const records = recordsOf(['a'.repeat(RECORD_BYTES)])
  const [piece] = records.pieces()
  records.discard()
  expect(piece?.buffer).toMatchObject({ detached: true, byteLength: 0 })
  expect(records.count).toBe(0)
})
