import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inPieces } from '../../src/snapshot/pieces.ts'

async function gather(lengths: readonly number[]): Promise<Buffer[]> {
  let next = 0
  async function* body() {
    for (const length of lengths) {
      yield Buffer.alloc(length, next % 251)
      next += 1
    }
  }
  const pieces: Buffer[] = []
  for await (const piece of inPieces(body())) pieces.push(Buffer.from(piece))
  return pieces
}

describe('a body in pieces', () => {
  it('has the same bytes in the same order, in pieces that are worth the way', async () => {
    const length = fc.oneof(fc.nat(100), fc.nat(300_000))
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 12 }), async (lengths) => {
        const pieces = await gather(lengths)
        const whole = lengths.map((bytes, index) => Buffer.alloc(bytes, index % 251))
        expect(Buffer.concat(pieces).equals(Buffer.concat(whole))).toBe(true)
        for (const piece of pieces.slice(0, -1)) {
          expect(piece.length).toBeGreaterThanOrEqual(256 * 1024)
        }
        expect(pieces.every((piece) => piece.length > 0)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })
})
