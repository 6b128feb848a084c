import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHitReader, hitBuffer, MEMBER, MEMBER_SIZE } from '../../src/export/hit-reader.ts'
import { hitText } from '../archive/arbitrary-json.ts'

interface Read {
  /** Where the hit ends, or `~place` where it cannot go on. */
  readonly end: number
  readonly members: Int32Array
}

/** Reads a hit that stands between other bytes. */
function read(text: string | Uint8Array, { maxDepth = 1000 } = {}): Read {
  const before = Buffer.from('[{"z":1},')
  const hit = Buffer.from(text as string)
  const bytes = hitBuffer(before.length + hit.length).fill(0)
  bytes.set(before)
  bytes.set(hit, before.length)
  const reader = createHitReader(maxDepth, (state) => new Error(state))
  const end = reader.read(bytes, before.length)
  const members = Int32Array.from(reader.members())
  return { end: end < 0 ? ~(~end - before.length) : end - before.length, members }
}

/** Whether a JSON parser takes the bytes for one object, without space around it. */
function isObject(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('utf8')
  if (!text.startsWith('{') || !text.endsWith('}')) return false
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

function judgedLikeAParser(bytes: Uint8Array): void {
  if (bytes[0] !== 0x7b) return
  const { end } = read(bytes)
  const accepted = end === bytes.length
  if (accepted !== isObject(bytes)) {
    expect.fail(`${accepted ? 'accepted' : 'refused'}: ${Buffer.from(bytes).toString()}`)
  }
}

describe('a hit', () => {
  it('is read to its end, with any text after it', () => {
    fc.assert(
      fc.property(hitText, fc.constantFrom('', ',', '}', ' ]', '{"a":1}'), (text, rest) => {
        expect(read(text + rest).end).toBe(Buffer.byteLength(text))
      }),
    )
  })

  it('is incomplete when it is cut at any byte', () => {
    fc.assert(
      fc.property(hitText, (text) => {
        const bytes = Buffer.from(text)
        for (let length = 1; length < bytes.length; length += 1) {
          expect(read(bytes.subarray(0, length)).end).toBe(~length)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is sound when a JSON parser says so, after any change of its bytes', () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(...Buffer.from('{}[]",:\\ \n\t0123456789-+.eEu')),
    )
    const edit = fc.tuple(fc.nat(), fc.nat(2), fc.array(byte, { maxLength: 2 }))
    fc.assert(
      fc.property(hitText, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
        let bytes = Buffer.from(text)
        for (const [place, removed, added] of edits) {
          const at = 1 + (place % bytes.length)
          const parts = [
            bytes.subarray(0, at),
            Uint8Array.from(added),
            bytes.subarray(at + removed),
          ]
          bytes = Buffer.concat(parts)
        }
        judgedLikeAParser(bytes)
      }),
      { numRuns: 5000 },
    )
  })

  it('is sound when a JSON parser says so, made of any tokens', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', '"', ',', ':', '\\', ' ', '\t', '\u000b', '\u00a0', '\ufeff', '"a":'],
      ...['0', '-', '1', '12', '.', 'e', 'E+', '-0', '01', '1.', '.5', '1e5', '1E-05', '--1', '+1'],
      ...['true', 'false', 'null', 'tru', 'nulll', 'NaN', '"a"', '"\\u00e9"', '"\\u12G4"', '"\\x"'],
      ...['"\u007f\u2028"', '"\n"', '"\0"', "'a'", '/*', '\0'],
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        judgedLikeAParser(Buffer.from(`{"a":${tokens.join('')}}`))
        judgedLikeAParser(Buffer.from(`{${tokens.join('')}}`))
      }),
      { numRuns: 5000 },
    )
  })

  it('may nest as deep as allowed, and no deeper', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}[]${'}'.repeat(levels - 1)}`
    expect(read(nested(100), { maxDepth: 100 }).end).toBe(nested(100).length)
    expect(() => read(nested(101), { maxDepth: 100 })).toThrow('is nested deeper than')
    expect(() => read('{"a":[[[', { maxDepth: 3 })).toThrow('is nested deeper than')
  })

  it('may have a million members, and no more', () => {
    const having = (members: number) => `{${Array(members).fill('"":0')}}`
    expect(read(having(1_000_000)).end).toBe(having(1_000_000).length)
    expect(() => read(having(1_000_001))).toThrow('has more than 1000000 members')
  })
})

describe('the members of a hit', () => {
  it('are those that a JSON parser finds, three levels deep', () => {
    fc.assert(
      fc.property(hitText, (text) => {
        // V8 13.6 takes a key with an escape for another it has seen: "\n" for "\\", of one character.
        fc.pre(!keysOf(text).some((key) => key.includes('\\')))
        const bytes = Buffer.from(text)
        const { members } = read(text)
        expect(rebuild(bytes, members, 1, [0, members.length])).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('reach from the separator before them to the one after them', () => {
    const text = '{ "a" : 1 ,"\\u0062":{"c":[{"x":1}] }\n, "d":{"e":{"f":{"g":2}}} }'
    const { members } = read(text)
    const found: unknown[] = []
    for (let member = 0; member < members.length; member += MEMBER_SIZE) {
      const [next, start, key, keyEnd, value, valueEnd, end] = members.subarray(member)
      found.push([
        (next as number) / MEMBER_SIZE,
        text.slice(start, end),
        text.slice(key, keyEnd),
        text.slice(value, valueEnd),
      ])
    }
    expect(found).toEqual([
      [1, ' "a" : 1 ', '"a"', '1'],
      [3, '"\\u0062":{"c":[{"x":1}] }\n', '"\\u0062"', '{"c":[{"x":1}] }'],
      [3, '"c":[{"x":1}] ', '"c"', '[{"x":1}]'],
      [6, ' "d":{"e":{"f":{"g":2}}} ', '"d"', '{"e":{"f":{"g":2}}}'],
      [6, '"e":{"f":{"g":2}}', '"e"', '{"f":{"g":2}}'],
      [6, '"f":{"g":2}', '"f"', '{"g":2}'],
    ])
  })
})

function keysOf(text: string): readonly string[] {
  return text.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/g) ?? []
}

/** The object whose members stand in a range of `members`. */
function rebuild(
  bytes: Buffer,
  members: Int32Array,
  depth: number,
  [from, to]: readonly [number, number],
): unknown {
  const entries: [string, unknown][] = []
  for (let member = from; member < to; member = members[member + MEMBER.next] as number) {
    const at = (which: number) => members[member + which] as number
    const value = [at(MEMBER.value), at(MEMBER.valueEnd)] as const
    const goesOn = depth < 3 && bytes[value[0]] === 0x7b
    entries.push([
      JSON.parse(bytes.toString('utf8', at(MEMBER.key), at(MEMBER.keyEnd))) as string,
      goesOn
        ? rebuild(bytes, members, depth + 1, [member + MEMBER_SIZE, at(MEMBER.next)])
        : JSON.parse(bytes.toString('utf8', ...value)),
    ])
  }
  return Object.fromEntries(entries)
}
