import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseShard, shardOf } from '../../src/config/shard.ts'

const names = fc.string({ minLength: 1, maxLength: 40 })
const counts = fc.integer({ min: 1, max: 40 })
const thousand = Array.from({ length: 1000 }, (_, number) => `team-${number}`)

function sizes(count: number): number[] {
  const sizes = new Array<number>(count).fill(0)
  for (const name of thousand) sizes[shardOf(name, count)] = (sizes[shardOf(name, count)] ?? 0) + 1
  return sizes
}

describe('the shard of an account', () => {
  it('is one of those there are, for any name', () => {
    fc.assert(
      fc.property(names, counts, (name, count) => {
        const shard = shardOf(name, count)
        expect(Number.isInteger(shard) && shard >= 0 && shard < count).toBe(true)
      }),
    )
  })

  it('stays the same when a shard is added, unless the account moves to the new one', () => {
    fc.assert(
      fc.property(names, counts, (name, count) => {
        expect([shardOf(name, count), count]).toContain(shardOf(name, count + 1))
      }),
    )
  })

  it('moves only a part in nine when eight become nine', () => {
    const moved = thousand.filter((name) => shardOf(name, 8) !== shardOf(name, 9))
    expect(moved.length).toBeGreaterThan(1000 / 9 / 1.5)
    expect(moved.length).toBeLessThan((1000 / 9) * 1.5)
  })

  it('has about as many accounts as any other', () => {
    expect(Math.min(...sizes(8))).toBeGreaterThan(125 / 1.5)
    expect(Math.max(...sizes(8))).toBeLessThan(125 * 1.5)
  })

  it('is the same in every version, since runs of two versions may overlap', () => {
    const some = ['production', 'staging', 'production-eu', 'team-1', 'Ünïcode']
    expect(some.map((name) => shardOf(name, 8))).toEqual([0, 7, 6, 4, 6])
  })
})

describe('a shard in words', () => {
  it('counts from 0', () => {
    expect(parseShard('0/8')).toEqual({ index: 0, count: 8 })
    expect(parseShard(' 7/8\n')).toEqual({ index: 7, count: 8 })
    expect(parseShard('0/1')).toEqual({ index: 0, count: 1 })
  })

  it.each(['', '8', '8/8', '0/0', '-1/8', '1/-8', '1.5/8', '1/8/2', 'a/b', '0/10001', '1 of 8'])(
    'is not %j',
    (text) => expect(parseShard(text)).toBeUndefined(),
  )
})
