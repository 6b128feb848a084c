import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createGlob,
  createNearest,
  createObjectQuery,
  createTextMatcher,
} from '../../src/objects/match-object.ts'

describe('createObjectQuery', () => {
  const rank = (text: string) =>
    createObjectQuery(text).rank({ id: 'search:BRFSS:-Age', title: 'Errors by Host' })

  it.each([
    ['search:BRFSS:-Age', 0],
    ['BRFSS:-Age', 1],
    ['Errors by Host', 2],
    ['errors BY host', 3],
    ['by host', 4],
    ['brfss', 4],
    ['Err*Host', 4],
    ['*h?st', 4],
    ['search:*', 4],
  ])('ranks an object by how well %s matches: %d', (text, expected) => {
    expect(rank(text)).toBe(expected)
  })

  it.each(['Errors by Hosts', 'Err*by', 'by*', '?', 'visualization:BRFSS:-Age'])(
    'does not match %s',
    (text) => {
      expect(rank(text)).toBeUndefined()
    },
  )

  it('compares only the id when the object has no title', () => {
    expect(createObjectQuery('a').rank({ id: 'search:a', title: undefined })).toBe(1)
  })

  it('matches a title that contains a star, character for character', () => {
    expect(createObjectQuery('All *').rank({ id: 'search:a', title: 'All *' })).toBe(2)
  })

  it('throws a usage error when the text is empty', () => {
    expect(() => createObjectQuery('')).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message: 'Cannot find the object: the given id or title is empty',
      }),
    )
  })
})

describe('a glob pattern', () => {
  it('matches the same texts as the equivalent regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), maxLength: 6 })
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 6 })
    fc.assert(
      fc.property(
        letters,
        glob.filter((text) => /[*?]/.test(text)),
        (text, pattern) => {
          const source = pattern.replaceAll('*', '.*').replaceAll('?', '.')
          const whole = createTextMatcher(pattern, { whole: true })
          const part = createTextMatcher(pattern, { whole: false })
          expect(whole(text)).toBe(new RegExp(`^${source}$`, 's').test(text))
          expect(part(text)).toBe(new RegExp(source, 's').test(text))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('matches the same texts as a comparison that tries every place', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 })
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '?'), maxLength: 14 })
    fc.assert(
      fc.property(text, glob, (one, pattern) => {
        expect(createGlob(pattern)(one)).toBe(matchesAnywhere(one, pattern))
      }),
      { numRuns: 5000 },
    )
  })

  it('matches the same texts as that comparison when the pattern has more than 64 characters', () => {
    const glob = fc.string({
      unit: fc.constantFrom('a', 'a', 'a', '?'),
      minLength: 60,
      maxLength: 70,
    })
    fc.assert(
      fc.property(glob, glob, fc.nat(80), fc.boolean(), (start, end, at, isChanged) => {
        const filled = `${start}${end}`.replaceAll('?', 'b')
        const text = `ab${isChanged ? filled.slice(0, at) + filled.slice(at + 1) : filled}ba`
        const pattern = `*${start}${end}*`
        expect(createGlob(pattern)(text)).toBe(matchesAnywhere(text, pattern))
      }),
    )
  })

  it.each([
    ['a star and many letters', `*${'a'.repeat(3998)}b`, 'A'],
    ['many question marks', `*${'?'.repeat(3998)}§`, 'A'],
    ['letters around a question mark', `*${'a'.repeat(1999)}?${'a'.repeat(1998)}b`, 'A'],
    ['letters and question marks in turn', `*${'a?'.repeat(1999)}b`, 'aaab'],
    ['a letter between others', `*${'a'.repeat(1999)}b${'a'.repeat(1999)}`, `${'a'.repeat(1998)}b`],
    ['stars and question marks in turn', `${'*?'.repeat(1999)}§`, 'A'],
  ])(
    'of 4,000 characters needs seconds of processor time against 1 MB, not minutes: %s',
    (_what, pattern, unit) => {
      const text = unit.repeat(1_000_000 / unit.length)
      const matches = createTextMatcher(pattern, { whole: false })
      const start = process.threadCpuUsage()
      expect(matches(text)).toBe(false)
      // A comparison of every place with every character takes much longer.
      const { user, system } = process.threadCpuUsage(start)
      expect(user + system).toBeLessThan(5_000_000)
    },
  )

  it('is matched quickly when it has many stars', () => {
    const matches = createTextMatcher(`${'*a'.repeat(30)}*b`, { whole: true })
    expect(matches('a'.repeat(20_000))).toBe(false)
  })
})

/** The definition of a glob, without regard to time. */
function matchesAnywhere(text: string, glob: string): boolean {
  const [first, ...rest] = glob
  if (first === undefined) return text === ''
  const left = rest.join('')
  if (first === '*')
    return matchesAnywhere(text, left) || (text !== '' && matchesAnywhere(text.slice(1), glob))
  return (first === '?' ? text !== '' : text[0] === first) && matchesAnywhere(text.slice(1), left)
}

describe('createNearest', () => {
  it('returns at most five texts, the most similar first', () => {
    const nearest = createNearest('Nginx Overview')
    const titles = [
      'Nginx Overviews',
      'Overview of Nginx',
      'Apache',
      'Nginx',
      'Overview',
      'nginx overview',
    ]
    for (const title of [...titles, 'MySQL Overview', 'Nginx errors', 'Zzz'])
      nearest.see(title, title)
    expect(nearest.labels()).toHaveLength(5)
    expect(nearest.labels()[0]).toBe('nginx overview')
    expect(nearest.labels()).not.toContain('Zzz')
  })

  it('returns nothing when no text is similar', () => {
    const nearest = createNearest('')
    nearest.see('a', 'a')
    nearest.see('b', '')
    expect(nearest.labels()).toEqual([])
  })
})
