import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DashkeepError } from '../../src/errors.ts'
import type { ExportEnvelope } from '../../src/export/envelope.ts'
import {
  createExportScanner,
  defaultScanLimits,
  type ScanLimits,
} from '../../src/export/export-scanner.ts'
import { createExportScan } from '../../src/export/scan-export.ts'
import { cut, exportText } from '../archive/arbitrary-json.ts'
import { rawHit } from '../archive/hits.ts'

interface Scanned extends ExportEnvelope {
  readonly found: string[]
}

function scan(chunks: readonly Uint8Array[], limits?: ScanLimits): Scanned {
  const found: string[] = []
  const scanner = createExportScanner(({ bytes, index }) => {
    expect(index).toBe(found.length)
    found.push(Buffer.from(bytes).toString('latin1'))
  }, limits)
  for (const chunk of chunks) scanner.feed(chunk)
  return { ...scanner.end(), found }
}

function scanText(text: string, limits?: ScanLimits): Scanned {
  return scan([Buffer.from(text)], limits)
}

/** What a text as bytes looks like when each is taken for a character. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function failure(act: () => unknown): DashkeepError | undefined {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(DashkeepError)
    return error as DashkeepError
  }
  return undefined
}

const small = [
  ' {"a":{"hits":[1]},"kibanaVersion":"7.9.1" , "hits" : [ {"_id":"a\\\\\\"}]{","n":[1,{"x":"é😀"}]} ,',
  '\n{"_id":"\\ud800\u2028"} , {}\t] ,"z" : "\\"hits\\":[" } \n',
].join('')
const smallHits = ['{"_id":"a\\\\\\"}]{","n":[1,{"x":"é😀"}]}', '{"_id":"\\ud800\u2028"}', '{}']

describe('an export document', () => {
  it('returns exactly its hits, for any content and any split into chunks', () => {
    fc.assert(
      fc.property(exportText, fc.array(fc.nat(), { maxLength: 8 }), (document, places) => {
        const { found, kibanaVersion, hits } = scan(cut(Buffer.from(document.text), places))
        expect(found).toEqual(document.hits.map(latin1))
        expect(hits).toBe(document.hits.length)
        expect(kibanaVersion).toBe(document.kibanaVersion)
      }),
      { numRuns: 500 },
    )
  })

  it('gives the same cut in two at every byte, and in three at every two', () => {
    const bytes = Buffer.from(small)
    for (let first = 0; first <= bytes.length; first += 1) {
      for (let second = first; second <= bytes.length; second += 1) {
        const scanned = scan(cut(bytes, [first, second]))
        if (scanned.found.join() !== smallHits.map(latin1).join()) {
          expect.fail(`cut at ${first} and ${second}: ${scanned.found.join()}`)
        }
      }
    }
    expect(scan(cut(bytes, [])).kibanaVersion).toBe('7.9.1')
  })

  it('gives members that occur twice and bytes that are not UTF-8 as they are', () => {
    const twice = Buffer.from('{"_id":"a","_id":"b","_id":"b"}')
    const invalid = Buffer.from([
      0x7b, 0x22, 0xff, 0xc3, 0x22, 0x3a, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d,
    ])
    const seen: Uint8Array[] = []
    const scanner = createExportScanner(({ bytes }) => seen.push(Uint8Array.from(bytes)))
    const pieces = ['{"kibanaVersion":"7","hits":[', twice, ',', invalid, '],"kibanaVersion":"8"}']
    for (const piece of pieces) scanner.feed(Buffer.from(piece as string))
    expect(scanner.end()).toMatchObject({ kibanaVersion: '8', hits: 2 })
    expect(seen.map((bytes) => Buffer.from(bytes))).toEqual([twice, invalid])
  })

  it('may arrive byte by byte, with empty chunks between', () => {
    const chunks = [...Buffer.from(small)].flatMap((byte) => [
      Uint8Array.of(byte),
      new Uint8Array(),
    ])
    expect(scan(chunks).found).toEqual(smallHits.map(latin1))
  })

  it('may hold hits of many chunks and of many members', () => {
    const members = Array.from({ length: 3000 }, (_, index) => `"m${index}":[${index},{"a":"]"}]`)
    const hit = `{${members.join(',')},"long":"${'\\"}'.repeat(100_000)}"}`
    const text = `{"hits":[{},${hit},{"last":1}],"kibanaVersion":"6"}`
    const places = Array.from({ length: text.length / 1009 }, (_, index) => index * 1009)
    const { found } = scan(cut(Buffer.from(text), places))
    expect(found).toEqual(['{}', hit, '{"last":1}'])
  })

  it('hands out the members of each hit, wherever the chunks are cut', () => {
    fc.assert(
      fc.property(exportText, fc.array(fc.nat(), { maxLength: 8 }), (document, places) => {
        const handedOut: number[][] = []
        const scanner = createExportScanner(({ members }) => handedOut.push([...members]))
        for (const chunk of cut(Buffer.from(document.text), places)) scanner.feed(chunk)
        scanner.end()
        expect(handedOut).toEqual(document.hits.map((hit) => [...rawHit(hit).members]))
      }),
    )
  })

  it('returns its kibanaVersion when the hits begin, if the server sends it first', () => {
    const scanner = createExportScanner(() => {})
    scanner.feed(Buffer.from('{"x":[1],"kibanaVersion":"7.1"'))
    expect(scanner.kibanaVersion()).toBeUndefined()
    scanner.feed(Buffer.from(',"hits":['))
    expect(scanner.kibanaVersion()).toBe('7.1')
  })

  it('returns its kibanaVersion only at the end, if the server sends it last', () => {
    const scanner = createExportScanner(() => {})
    scanner.feed(Buffer.from('{"hits":[],"kibanaVersion":"7.1"}'))
    expect(scanner.kibanaVersion()).toBeUndefined()
    expect(scanner.end()).toMatchObject({ kibanaVersion: '7.1', hits: 0 })
  })
})

describe('a body that breaks off', () => {
  it('fails with a transient error, for any byte at which it ends', () => {
    fc.assert(
      fc.property(exportText, ({ text }) => {
        const bytes = Buffer.from(text)
        const complete = Buffer.byteLength(text.trimEnd())
        for (let length = 0; length < complete; length += 1) {
          const error = failure(() => scan([bytes.subarray(0, length)]))
          if (error?.transient !== true) {
            expect.fail(`ends after ${JSON.stringify(text.slice(0, length))}: ${error?.message}`)
          }
        }
      }),
      { numRuns: 25 },
    )
  })

  it('is reported with the place where it ended', () => {
    const message = (text: string) => failure(() => scanText(text))?.message
    expect(message(' \r\n\t')).toBe('Cannot read the export: it ends before its first byte')
    expect(message('')).toBe('Cannot read the export: it ends before its first byte')
    expect(message('{"kibanaV')).toBe('Cannot read the export: it ends before its hits')
    expect(message('{"hits":[')).toBe('Cannot read the export: it ends after 0 hits')
    expect(message('{"hits":[{},')).toBe('Cannot read the export: it ends after 1 hits')
    expect(message('{"hits":[{},{"a')).toBe(
      'Cannot read the export: it ends in the middle of hit 1',
    )
    expect(message('{"hits":[{}]')).toBe('Cannot read the export: it ends after its hits')
  })
})

describe('a body that is no export document is refused', () => {
  const refusals: [string, string, RegExp][] = [
    ['the refusal of a service', '{"code":403,"message":"Insufficient privileges"}', /no hits/],
    ['plain text', 'Too Many Requests', /not one JSON document/],
    ['a web page', '<!DOCTYPE html><title>502</title>', /not one JSON document/],
    ['an array', '[{"hits":[],"kibanaVersion":"7"}]', /not a JSON object/],
    ['an array that looks like the members', '["hits":[],"kibanaVersion":"7"]', /not one JSON/],
    ['null', 'null', /not a JSON object/],
    ['a string', '"hits"', /not a JSON object/],
    ['a byte order mark before it', '\ufeff{"hits":[],"kibanaVersion":"7"}', /not one JSON/],
    ['garbage after it', '{"hits":[],"kibanaVersion":"7"}x', /not one JSON document/],
    ['a NUL after it', '{"hits":[],"kibanaVersion":"7"}\0', /not one JSON document/],
    ['a second brace', '{"hits":[],"kibanaVersion":"7"}}', /not one JSON document/],
    ['garbage before it', 'x{"hits":[],"kibanaVersion":"7"}', /not one JSON document/],
    [
      'two documents',
      '{"hits":[],"kibanaVersion":"7"}{"hits":[],"kibanaVersion":"7"}',
      /more than one member named hits/,
    ],
    [
      'a second document without hits',
      '{"hits":[],"kibanaVersion":"7"}\n{"kibanaVersion":"7"}',
      /not one JSON document/,
    ],
    ['hits twice', '{"hits":[{}],"hits":[{}],"kibanaVersion":"7"}', /more than one .* hits/],
    ['hits, then no array', '{"hits":[{}],"hits":5,"kibanaVersion":"7"}', /more than one .* hits/],
    ['no array, then hits', '{"hits":5,"hits":[{}],"kibanaVersion":"7"}', /more than one .* hits/],
    [
      'hits and hits with an escape',
      '{"hits":[{}],"\\u0068its":[],"kibanaVersion":"7"}',
      /more than one member named hits/,
    ],
    [
      'hits with an escape and hits',
      '{"h\\u0069ts":[{}],"hits":[],"kibanaVersion":"7"}',
      /more than one member named hits/,
    ],
    ['hits with an escape', '{"\\u0068its":[{}],"kibanaVersion":"7"}', /no hits array/],
    ['no hits', '{"kibanaVersion":"7"}', /no hits array/],
    ['hits within another member', '{"a":{"hits":[{}]},"kibanaVersion":"7"}', /no hits array/],
    ['hits that are an object', '{"hits":{"0":{}},"kibanaVersion":"7"}', /no hits array/],
    ['hits that are null', '{"hits":null,"kibanaVersion":"7"}', /no hits array/],
    ['hits that are text', '{"hits":"[{}]","kibanaVersion":"7"}', /no hits array/],
    ['a value before the array', '{"hits":1[{}],"kibanaVersion":"7"}', /not one JSON document/],
    ['no kibanaVersion', '{"hits":[{}]}', /no kibanaVersion/],
    ['a kibanaVersion that is a number', '{"hits":[],"kibanaVersion":7}', /no kibanaVersion/],
    ['a kibanaVersion that is null', '{"kibanaVersion":null,"hits":[]}', /no kibanaVersion/],
    ['a hit that is null', '{"hits":[{},null],"kibanaVersion":"7"}', /hit 1 is not an object/],
    ['a hit that is a number', '{"hits":[1],"kibanaVersion":"7"}', /hit 0 is not an object/],
    ['a hit that is text', '{"hits":["{}"],"kibanaVersion":"7"}', /hit 0 is not an object/],
    ['a hit that is an array', '{"hits":[[{}]],"kibanaVersion":"7"}', /hit 0 is not an object/],
    ['a comma before the hits', '{"hits":[,{}],"kibanaVersion":"7"}', /hit 0 is not an object/],
    ['a comma after the hits', '{"hits":[{},],"kibanaVersion":"7"}', /hit 1 is not an object/],
    ['two commas', '{"hits":[{},,{}],"kibanaVersion":"7"}', /hit 1 is not an object/],
    ['no comma', '{"hits":[{}{}],"kibanaVersion":"7"}', /hit 1 is not an object/],
    ['hits closed by a brace', '{"hits":[{}},"kibanaVersion":"7"}', /hit 1 is not an object/],
    ['a document closed by a bracket', '{"hits":[{}],"kibanaVersion":"7"]', /not one JSON/],
    ['a hit closed by a bracket', '{"hits":[{"a":1]],"kibanaVersion":"7"}', /hit 0 is not sound/],
    [
      'an array closed by a brace',
      '{"hits":[{"a":[1}}],"kibanaVersion":"7"}',
      /hit 0 is not sound/,
    ],
    ['a hit without a value', '{"hits":[{"a":}],"kibanaVersion":"7"}', /hit 0 is not sound JSON/],
    ['a bare control character', '{"hits":[{"a":"\n"}],"kibanaVersion":"7"}', /hit 0 is not sound/],
    ['an unknown escape', '{"hits":[{"a":"\\x"}],"kibanaVersion":"7"}', /hit 0 is not sound JSON/],
  ]

  it.each(refusals)('%s', (_name, text, message) => {
    for (const places of [[], Array.from({ length: text.length }, (_, index) => index)]) {
      const error = failure(() => {
        const opened = createExportScan('dashboard')
        for (const chunk of cut(Buffer.from(text), places)) opened.feed(chunk)
        opened.end()
      })
      expect(error?.message).toMatch(/^Cannot read the export: /)
      expect(error?.message).toMatch(message)
      expect(error?.hint).toBeDefined()
      expect(error?.transient).toBe(false)
    }
  })

  it('random bytes, and random tokens of JSON', () => {
    const token = fc.constantFrom(
      ...['{', '}', '[', ']', '"', ',', ':', '\\', ' ', '1', '"hits"', '"kibanaVersion"', '"7"'],
      ...['"hits":[', '{"hits":[{', '}],"kibanaVersion":"7"}', '\\u0068', 'null', '"a":'],
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(token, { maxLength: 12 }).map((tokens) => Buffer.from(tokens.join(''))),
    )
    fc.assert(fc.property(bytes, judgedLikeAParser), { numRuns: 2000 })
  })

  it('what remains of a document when some of its bytes are changed, removed or added', () => {
    const byte = fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\ \n')))
    const edit = fc.tuple(fc.nat(), fc.nat(2), fc.array(byte, { maxLength: 2 }))
    fc.assert(
      fc.property(exportText, fc.array(edit, { minLength: 1, maxLength: 3 }), (document, edits) => {
        let bytes = Buffer.from(document.text)
        for (const [place, removed, added] of edits) {
          const at = place % bytes.length
          bytes = Buffer.concat([
            bytes.subarray(0, at),
            Uint8Array.from(added),
            bytes.subarray(at + removed),
          ])
          if (bytes.length === 0) return
        }
        judgedLikeAParser(bytes)
      }),
      { numRuns: 2000 },
    )
  })
})

/** The scan passes what a JSON parser takes for an export, but for hits named twice or oddly. */
function judgedLikeAParser(bytes: Uint8Array): void {
  const error = failure(() => {
    const opened = createExportScan('dashboard')
    opened.feed(bytes)
    opened.end()
  })
  const text = Buffer.from(bytes).toString('utf8')
  const isSound = isExportDocument(text)
  if (error === undefined && !isSound) expect.fail(`accepted: ${text}`)
  if (error !== undefined && isSound && !/named hits|no hits array/.test(error.message)) {
    expect.fail(`refused: ${text}: ${error.message}`)
  }
}

function isExportDocument(text: string): boolean {
  try {
    const { hits, kibanaVersion } = JSON.parse(text) as { hits: unknown; kibanaVersion: unknown }
    const isObject = (hit: unknown) =>
      typeof hit === 'object' && hit !== null && !Array.isArray(hit)
    return Array.isArray(hits) && hits.every(isObject) && typeof kibanaVersion === 'string'
  } catch {
    return false
  }
}

describe('a document beyond the limits', () => {
  const around = (hit: string) => `{"hits":[{},${hit}],"kibanaVersion":"7"}`

  it('is refused when a hit is larger than it may be, in one chunk or in many', () => {
    const limits = { ...defaultScanLimits, maxHitBytes: 100, maxDepth: 10 }
    const fits = `{"a":"${'x'.repeat(92)}"}`
    const larger = `{"a":"${'x'.repeat(93)}"}`
    for (const size of [1, 7, 1000]) {
      const places = Array.from({ length: 200 }, (_, index) => index * size)
      const run = (hit: string) => scan(cut(Buffer.from(around(hit)), places), limits)
      expect(run(fits).found).toEqual(['{}', fits])
      const error = failure(() => run(larger))
      expect(error?.message).toBe('Cannot read the export: hit 1 is larger than 100 bytes')
      expect(error?.hint).toContain('maxHitBytes')
      expect(error?.transient).toBe(false)
    }
  })

  it('is refused before an endless hit has been gathered', () => {
    const limits = { ...defaultScanLimits, maxHitBytes: 1000, maxDepth: 10 }
    const scanner = createExportScanner(() => {}, limits)
    scanner.feed(Buffer.from('{"hits":[{"a":"'))
    const fed = failure(() => {
      for (let chunk = 0; chunk < 20; chunk += 1) scanner.feed(Buffer.alloc(100, 'x'))
    })
    expect(fed?.message).toContain('hit 0 is larger than 1000 bytes')
  })

  it('is refused when it holds more hits than it may, however they arrive', () => {
    const limits = { ...defaultScanLimits, maxObjects: 3 }
    const text = (hits: number) => `{"hits":[${Array(hits).fill('{}')}],"kibanaVersion":"7"}`
    for (const size of [1, 7, 1000]) {
      const places = Array.from({ length: 50 }, (_, index) => index * size)
      const run = (hits: number) => scan(cut(Buffer.from(text(hits)), places), limits)
      expect(run(3).hits).toBe(3)
      const error = failure(() => run(4))
      expect(error?.message).toBe('Cannot read the export: it holds more than 3 objects')
      expect(error?.hint).toContain('limits.maxObjects')
      expect(error?.transient).toBe(false)
    }
  })

  it('is refused when it is larger than it may be', () => {
    const text = '{"hits":[{}],"kibanaVersion":"7"}'
    const limits = { ...defaultScanLimits, maxExportBytes: text.length }
    expect(scanText(text, limits).hits).toBe(1)
    const error = failure(() => scanText(`${text} `, limits))
    expect(error?.message).toBe(`Cannot read the export: it is larger than ${text.length} bytes`)
    expect(error?.hint).toContain('limits.maxExportBytes')
  })

  it('is refused when a hit is nested deeper than it may be', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    const limits = { ...defaultScanLimits, maxHitBytes: 1000, maxDepth: 20 }
    expect(scanText(around(nested(20)), limits).hits).toBe(2)
    const error = failure(() => scanText(around(nested(21)), limits))
    expect(error?.message).toBe('Cannot read the export: hit 1 is nested deeper than 20 levels')
    expect(scanText(around(nested(1000))).hits).toBe(2)
    expect(failure(() => scanText(around(nested(1001))))?.message).toContain('1000 levels')
  })

  it.each([
    ['before the hits', (long: string) => `{"a":"${long}","hits":[],"kibanaVersion":"7"}`],
    ['after the hits', (long: string) => `{"hits":[],"kibanaVersion":"7","a":"${long}"}`],
    ['in its kibanaVersion', (long: string) => `{"hits":[],"kibanaVersion":"${long}"}`],
    ['in spaces', (long: string) => `{"hits":[],"kibanaVersion":"7"${' '.repeat(long.length)}}`],
    [
      'in nested arrays',
      (long: string) => `{"a":${'['.repeat(long.length / 2)}${']'.repeat(long.length / 2)},
        "hits":[],"kibanaVersion":"7"}`,
    ],
  ])('is refused when it holds too much %s', (_name, document) => {
    expect(scanText(document('x'.repeat(1_000_000))).hits).toBe(0)
    const error = failure(() => scanText(document('x'.repeat(1_100_000))))
    expect(error?.message).toMatch(/members besides hits are larger than 1048576 bytes/)
  })

  it('may hold a hit of one huge string, as long as that fits', () => {
    const hit = `{"a":"${'\\\\'.repeat(4_000_000)}"}`
    expect(scanText(around(hit)).found).toEqual(['{}', hit])
    const error = failure(() => scanText(around(`{"a":"${'x'.repeat(17_000_000)}"}`)))
    expect(error?.message).toBe('Cannot read the export: hit 1 is larger than 16777216 bytes')
  })

  it('may have any amount of space between its hits', () => {
    const text = `{"hits":[{}${' '.repeat(3_000_000)},{}],"kibanaVersion":"7"}`
    expect(scanText(text).hits).toBe(2)
  })
})
