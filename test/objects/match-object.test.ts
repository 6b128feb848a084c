import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createNearest,
  createObjectQuery,
  createTextMatcher,
} from '../../src/objects/match-object.ts'

describe('a question for an object', () => {
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
  ])('%s is answered with rank %d', (text, expected) => {
    expect(rank(text)).toBe(expected)
  })

  it.each(['Errors by Hosts', 'Err*by', 'by*', '?', 'visualization:BRFSS:-Age'])(
    '%s is not answered',
    (text) => {
      expect(rank(text)).toBeUndefined()
    },
  )

  it('is asked of ids alone where there is no title', () => {
    expect(createObjectQuery('a').rank({ id: 'search:a', title: undefined })).toBe(1)
  })

  it('takes a title with a star as it is', () => {
    expect(createObjectQuery('All *').rank({ id: 'search:a', title: 'All *' })).toBe(2)
  })
})

describe('a glob', () => {
  it('fits what a regular expression of the same meaning fits', () => {
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

  it('takes no more than a moment, however many stars it has', () => {
    const matches = createTextMatcher(`${'*a'.repeat(30)}*b`, { whole: true })
    expect(matches('a'.repeat(20_000))).toBe(false)
  })
})

describe('the texts most alike', () => {
  it('come first, five at most', () => {
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

  it('are none when none is', () => {
    const nearest = createNearest('')
    nearest.see('a', 'a')
    nearest.see('b', '')
    expect(nearest.labels()).toEqual([])
  })
})
