import { describe, expect, it } from 'vitest'
import { deriveId } from '../../src/objects/derive-id.ts'

describe('a derived id', () => {
  it('stays the same for ever, because a second promotion must find what the first created', () => {
    expect(deriveId(100001, 'dashboard', 'shop-overview')).toBe(
      'f22555c6-6767-8708-95ba-3fd720bc3b9b',
    )
  })

  it('is a UUID of version 8', () => {
    for (let number = 0; number < 200; number += 1) {
      expect(deriveId(number, 'search', '')).toMatch(
        /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
      )
    }
  })

  it('differs by account, type and id, also where their texts run together', () => {
    const ids = [
      deriveId(1, 'search', 'a'),
      deriveId(2, 'search', 'a'),
      deriveId(1, 'dashboard', 'a'),
      deriveId(1, 'search', 'A'),
      deriveId(1, 'search', 'a"'),
      deriveId(1, 'searcha', ''),
      deriveId(11, 'search', 'a'),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })
})
