import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameFiles } from '../../src/objects/file-names.ts'

describe('names of files', () => {
  it.each([
    ['shop-overview', 'shop-overview'],
    ['a b:c/d\\e', 'a%20b%3Ac%2Fd%5Ce'],
    ['../../etc/passwd', '%2E.%2F..%2Fetc%2Fpasswd'],
    ['..', '%2E.'],
    ['100%', '100%25'],
    ['é*?~', '%C3%A9%2A%3F%7E'],
    ['CON', '%43ON'],
    ['', '~12ae32cb'],
  ])('of %j is %s', (id, name) => {
    expect(nameFiles([id])).toEqual([name])
  })

  it('tell apart what a file system may not', () => {
    expect(nameFiles(['a', 'A'])).toEqual([expect.stringMatching(/^a~[0-9a-f]{8}$/), 'A'])
    const [long, longer] = nameFiles(['x'.repeat(300), 'x'.repeat(301)])
    expect(long).not.toBe(longer)
    expect(long?.length).toBe(189)
  })

  it('are safe and different for any ids in any order, also for equal ids', () => {
    const ids = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'A', '\ud800')),
    )
    fc.assert(
      fc.property(ids, (given) => {
        const names = nameFiles(given)
        const folded = names.map((name) => name.toLowerCase())
        expect(new Set(folded).size).toBe(given.length)
        for (const name of names) expect(name).toMatch(/^[\w%~-][\w%.~-]{0,200}$/)
        expect(nameFiles(given.toReversed()).sort()).toEqual(names.toSorted())
      }),
    )
  })
})
