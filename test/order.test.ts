import { describe, expect, it } from 'vitest'
import { compareValues } from '../src/order.ts'

describe('the order of values', () => {
  it('sorts texts by their code units, in every language', () => {
    const sorted = ['ä', 'b', 'B', 'a', '10', '9'].sort(compareValues)
    expect(sorted).toEqual(['10', '9', 'B', 'a', 'b', 'ä'])
  })

  it('sorts numbers by their value', () => {
    expect([10, 9, -1].sort(compareValues)).toEqual([-1, 9, 10])
  })

  it('keeps the places of equal values', () => {
    const many = Array.from({ length: 100 }, (_, place) => ({ place, kind: place % 2 }))
    const places = many.toSorted((a, b) => compareValues(a.kind, b.kind)).map(({ place }) => place)
    const even = places.filter((place) => place % 2 === 0)
    const odd = places.filter((place) => place % 2 === 1)
    expect(places).toEqual([...even.toSorted((a, b) => a - b), ...odd.toSorted((a, b) => a - b)])
  })
})
