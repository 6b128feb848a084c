import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createObjectIndex,
  type SortedIndex,
  stableBytes,
} from '../../src/export/content-digest.ts'
import {
  joinMembers,
  type MemberText,
  membersText,
  memberText,
  space,
  stringText,
  valueText,
} from '../archive/arbitrary-json.ts'
import { rawHit } from '../archive/hits.ts'

function stable(hit: string): string {
  return Buffer.from(stableBytes(rawHit(hit))).toString('utf8')
}

function index(objects: readonly (readonly [id: string, hit: string])[]): SortedIndex {
  const opened = createObjectIndex()
  for (const [id, hit] of objects) opened.add(id, rawHit(hit))
  return opened.finish()
}

function digest(...hits: readonly string[]): string {
  return index(hits.map((hit) => [(JSON.parse(hit) as { _id: string })._id, hit])).contentDigest
}

const unstableInHit = ['_index', '_score']
const unstableInSource = ['updated_at', 'version', '_updatedAt']

/** Keys that count and keys that do not, in both places, with lookalikes. */
const key = fc
  .oneof(
    fc.constantFrom(...[...unstableInHit, ...unstableInSource].map((name) => `"${name}"`)),
    fc.constantFrom('"_id"', '"_Index"', '"_score "', '" version"', '"updated_at\\u0000"', '""'),
    fc.constantFrom('"__proto__"', '"toString"', '"a\\":{\\"version"', '"_sourc\u00e9"'),
    stringText,
  )
  .filter((text) => JSON.parse(text) !== '_source' && !isEscapedName(text))

/** An unstable member spelled with escapes counts as any other: services do not write such keys. */
function isEscapedName(text: string): boolean {
  const name = JSON.parse(text) as string
  return [...unstableInHit, ...unstableInSource].includes(name) && text !== `"${name}"`
}

interface HitText {
  readonly text: string
  /** The hit as its pieces say it should be without its unstable members. */
  readonly stableText: string
}

/** Hits whose `_source` is an object, anything else, or missing. */
const hitText: fc.Arbitrary<HitText> = fc
  .record({
    members: membersText(memberText(key)),
    source: fc.option(
      fc.record({
        content: fc.oneof(
          { weight: 3, arbitrary: fc.tuple(membersText(memberText(key)), space) },
          { weight: 1, arbitrary: valueText.filter((text) => !text.startsWith('{')) },
        ),
        member: memberText(fc.constant('"_source"'), fc.constant('')),
        place: fc.nat(5),
      }),
    ),
  })
  .map(({ members, source }) => {
    if (source === null) {
      return { text: joinMembers(members), stableText: without(unstableInHit, members) }
    }
    const { content, member, place } = source
    const inner = typeof content === 'string' ? undefined : content[0]
    const value = inner ? joinMembers(inner) : (content as string)
    const stableValue = inner ? without(unstableInSource, inner) : value
    return {
      text: joinMembers(members.toSpliced(place, 0, { ...member, value })),
      stableText: without(
        unstableInHit,
        members.toSpliced(place, 0, { ...member, value: stableValue }),
      ),
    }
  })

function without(names: readonly string[], members: readonly MemberText[]): string {
  return joinMembers(members.filter(({ key }) => !names.includes(JSON.parse(key) as string)))
}

describe('what counts of a hit', () => {
  it('is every byte but those of _index, _score and of touch-only members of its _source', () => {
    fc.assert(
      fc.property(hitText, ({ text, stableText }) => {
        expect(stable(text)).toBe(stableText)
      }),
      { numRuns: 1000 },
    )
  })

  it('reads as the hit without those members', () => {
    fc.assert(
      fc.property(hitText, ({ text }) => {
        const expected = JSON.parse(text) as Record<string, unknown>
        for (const name of unstableInHit) delete expected[name]
        const { _source: source } = expected
        if (typeof source === 'object' && source !== null && !Array.isArray(source)) {
          for (const name of unstableInSource) delete (source as Record<string, unknown>)[name]
        }
        expect(JSON.stringify(JSON.parse(stable(text)))).toBe(JSON.stringify(expected))
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['nothing', '{}', '{}'],
    ['nothing but what does not count', '{ "_score" : null , "_index":"x" }', '{}'],
    ['an empty _source', '{"_source":{ }}', '{"_source":{}}'],
    ['a _source of touches only', '{"_source":{"version":1}}', '{"_source":{}}'],
    [
      'the names elsewhere',
      '{"version":1,"updated_at":2,"_updatedAt":3,"_source":{"_index":4,"_score":5,"a":{"version":6}}}',
      '{"version":1,"updated_at":2,"_updatedAt":3,"_source":{"_index":4,"_score":5,"a":{"version":6}}}',
    ],
    [
      'the names in another member',
      '{"a":{"_source":{"version":1}}}',
      '{"a":{"_source":{"version":1}}}',
    ],
    ['containers that do not count', '{"_score":[{"_source":{}},[]],"a":1}', '{"a":1}'],
    [
      'the names as values',
      '{"a":"_score","b":["_index","_score"]}',
      '{"a":"_score","b":["_index","_score"]}',
    ],
  ])('may be %s', (_name, hit, expected) => {
    expect(stable(hit)).toBe(expected)
  })

  it('does not depend on how far members are indented', () => {
    const far = `\n${' '.repeat(100)}`
    expect(stable(`{"a":1,${far}"_score"${far}:${far}2${far}}`)).toBe('{"a":1}')
    expect(stable(`{${far}"_source"${far}:{"a":1,${far}"version":2}}`)).toBe(
      `{${far}"_source"${far}:{"a":1}}`,
    )
  })

  it('may be larger than any hit before', () => {
    const long = 'x'.repeat(300_000)
    expect(stable(`{"a":"${long}","_score":1}`)).toBe(`{"a":"${long}"}`)
    expect(stable('{"a":1,"_score":1}')).toBe('{"a":1}')
  })

  it('may have any number of members', () => {
    const members = Array.from({ length: 2000 }, (_, at) => `"m${at}":[${at},{"version":1}]`)
    const inner = `{${members.join(',')}}`
    expect(stable(`{"_score":1,"_source":${inner},"_index":"x"}`)).toBe(`{"_source":${inner}}`)
  })
})

describe('a contentDigest', () => {
  const hits = [
    '{"_index":"a","_id":"search:1","_score":1,"_source":{"type":"search","n":9007199254740993}}',
    '{"_index":"a","_id":"search:2","_score":1,"_source":{"updated_at":5,"search":{"title":"T"}}}',
    '{"_index":"a","_id":"search:3","_score":1,"_source":{"version":5,"_updatedAt":"x"}}',
  ] as const
  const [first, second, third] = hits

  it('is the same in any order of hits, with other scores, indices and touches', () => {
    const touched = [
      second.replace('"updated_at":5', '"updated_at":"2026-11-20T16:31:00Z"'),
      third.replace('"version":5', '"version":6').replace('"_updatedAt":"x"', '"_updatedAt":null'),
      first.replace('"_index":"a"', '"_index":"b"').replace('"_score":1', '"_score":null'),
    ]
    expect(digest(...touched)).toBe(digest(...hits))
  })

  it('is the same in any order, also when ids repeat', () => {
    const hit = fc.tuple(fc.constantFrom('a', 'b', ''), fc.nat(3))
    const shuffled = fc
      .array(hit, { maxLength: 8 })
      .chain((list) =>
        fc.tuple(
          fc.constant(list),
          fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length }),
        ),
      )
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const texts = (pairs: typeof list) =>
          pairs.map(([id, n]) => [id, `{"_id":"${id}","n":${n}}`] as const)
        expect(index(texts(other)).contentDigest).toBe(index(texts(list)).contentDigest)
      }),
    )
  })

  it('is another one when anything else differs', () => {
    const changes = [
      [first.replace('9007199254740993', '9007199254740992'), second, third],
      [first.replace('"search:1"', '"search:4"'), second, third],
      [first, second.replace('"T"', '"\\u0054"'), third],
      [first, second.replace('"_source"', '"source"'), third],
      [first, second.replace('{"title":"T"}', '{"title":"T","version":1}'), third],
      [first, second],
      [first, second, third, third],
      [],
    ]
    const digests = [hits, ...changes].map((list) => digest(...list))
    expect(new Set(digests).size).toBe(digests.length)
  })

  it('is another one when two objects exchange their content', () => {
    expect(
      index([
        ['a', '{"n":1}'],
        ['b', '{"n":2}'],
      ]).contentDigest,
    ).not.toBe(
      index([
        ['a', '{"n":2}'],
        ['b', '{"n":1}'],
      ]).contentDigest,
    )
  })

  it('is the same exactly when what counts is the same', () => {
    fc.assert(
      fc.property(hitText, hitText, (one, other) => {
        const same = (a: string, b: string) =>
          index([['x', a]]).contentDigest === index([['x', b]]).contentDigest
        expect(same(one.text, one.stableText)).toBe(true)
        expect(same(one.text, other.text)).toBe(one.stableText === other.stableText)
      }),
    )
  })

  it('never changes from one dashkeep to the next', () => {
    expect(digest(...hits)).toBe('61ad59f29d57b73c08d43e34e2a10d1ee39645e59151fe66b34e0ea4cf8aa521')
    expect(digest()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })
})

describe('an index of objects', () => {
  const ids = fc.uniqueArray(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', 'search:', 'search:a:b', '/', '"', '\\', '😀', '\ud800', '\udc00', 'ï¿½'),
      fc.constantFrom('\ufffd', '\\ud800', '\ud83d', '\ude00', '__proto__', 'a\u0000', 'a'),
    ),
    { maxLength: 40 },
  )

  it('finds exactly the objects that it holds, with the state of each', () => {
    fc.assert(
      fc.property(ids, fc.nat(40), (all, split) => {
        const held = all.slice(0, split)
        const sorted = index(held.map((id, at) => [id, `{"n":${at}}`]))
        expect([sorted.count, sorted.duplicates]).toEqual([held.length, 0])
        const places = held.map((id) => sorted.find(id))
        expect(places.toSorted((a, b) => a - b)).toEqual(held.map((_, at) => at))
        for (const [at, place] of places.entries()) {
          expect(sorted.matches(place, rawHit(`{"_score":7,"n":${at}}`))).toBe(true)
          expect(sorted.matches(place, rawHit(`{"n":${at + 1}}`))).toBe(false)
        }
        for (const id of all.slice(split)) expect(sorted.find(id)).toBe(-1)
      }),
      { numRuns: 60 },
    )
  })

  it('counts objects whose id an earlier one has', () => {
    const list = ['a', 'b', 'a', '', 'a', ''].map((id, at) => [id, `{"n":${at}}`] as const)
    const sorted = index(list)
    expect([sorted.count, sorted.duplicates]).toEqual([6, 3])
    expect(index(list.map(([id]) => [id, '{}'])).duplicates).toBe(3)
  })

  it('may hold more objects than fit one block of memory', () => {
    const total = 9001
    const hit = rawHit('{"_score":1}')
    const opened = createObjectIndex()
    for (let at = 0; at < total; at += 1) opened.add(`search:${(at * 7919) % total}`, hit)
    const sorted = opened.finish()
    const places = Array.from({ length: total }, (_, at) => sorted.find(`search:${at}`))
    expect([sorted.count, sorted.duplicates]).toEqual([total, 0])
    expect(new Set(places).size).toBe(total)
    expect(Math.min(...places)).toBe(0)
    expect(sorted.find(`search:${total}`)).toBe(-1)
    const reversed = createObjectIndex()
    for (let at = total - 1; at >= 0; at -= 1) reversed.add(`search:${at}`, hit)
    expect(reversed.finish().contentDigest).toBe(sorted.contentDigest)
  })

  it('counts by a sample which of its ids another index lacks', () => {
    const ids = fc.uniqueArray(fc.string(), { maxLength: 30 })
    const indexOf = (names: readonly string[]) => index(names.map((id) => [id, '{}']))
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const named = before.filter((id) => id !== '')
        const sample = indexOf([...before, ...before.slice(0, 3)]).sampleIds()
        const lost = named.filter((id) => !after.includes(id)).length
        const found = indexOf(after).countLost(sample)
        expect(found).toEqual({ lost, sampled: named.length, isWhole: true })
      }),
      { numRuns: 50 },
    )
  })

  it('samples 128 ids, in a text that stays small', () => {
    const names = (from: number) => Array.from({ length: 1000 }, (_, at) => `n${from + at}`)
    const indexOf = (ids: readonly string[]) => index(ids.map((id) => [id, '{}']))
    const sample = indexOf(names(0)).sampleIds()
    expect(sample).toHaveLength(856)
    const { lost, sampled, isWhole } = indexOf(names(400)).countLost(sample)
    expect({ sampled, isWhole }).toEqual({ sampled: 128, isWhole: false })
    expect(Math.abs(lost / sampled - 0.4)).toBeLessThan(0.1)
  })

  it('never samples other bytes from one dashkeep to the next', () => {
    const sample = index([
      ['search:a', '{}'],
      ['search:b', '{}'],
      ['', '{}'],
    ]).sampleIds()
    expect(sample).toBe('jzMlo2WyxL40yw==')
  })

  it('holds nothing when it is empty', () => {
    const sorted = createObjectIndex().finish()
    expect([sorted.count, sorted.duplicates, sorted.find('')]).toEqual([0, 0, -1])
  })
})
