import { DashkeepError } from '../errors.ts'

/** One hit of an export document, as it stands in the body. */
export interface RawHit {
  /** The hit's bytes, from `{` to `}`. They are valid until the callback returns: copy to keep. */
  readonly bytes: Uint8Array
  /** The hit's place in `hits`, from 0. */
  readonly index: number
  /**
   * Offsets in `bytes` of every `{ } [ ] , :` that stands outside strings and is, or lies
   * directly inside, the hit or a value of one of its members. Valid as long as `bytes`.
   */
  readonly marks: Int32Array
}

/** What an export document says besides its hits. */
export interface ExportEnvelope {
  readonly kibanaVersion: string
  /** Number of hits. */
  readonly hits: number
}

/** Bounds that keep a hostile or broken document from taking all memory. */
export interface ScanLimits {
  /** Largest hit accepted, in bytes. A hit is the one thing held whole. */
  readonly maxHitBytes: number
  /** Deepest nesting accepted within a hit. */
  readonly maxDepth: number
}

export const defaultScanLimits: ScanLimits = { maxHitBytes: 16 * 1024 * 1024, maxDepth: 1000 }

/** Finds the hits of one export document that arrives in chunks. */
export interface ExportScanner {
  /** Takes the next bytes and reports each hit that ends in them. Throws on what is no export. */
  feed(chunk: Uint8Array): void
  /** Says that the body has ended. Throws when the document has not, or is no export. */
  end(): ExportEnvelope
  /** The `kibanaVersion`, once it is known: at the start or at the end, as the server orders it. */
  kibanaVersion(): string | undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** What is not a hit (kibanaVersion and unknown members) may be this large together. */
const MAX_ENVELOPE_BYTES = 1024 * 1024

/** Marks are kept for the hit itself (depth 1) and for the values of its members (depth 2). */
const MARK_DEPTH = 2

/**
 * Splits an export document (specification, "Export result") into its hits without holding it.
 *
 * Only the brackets and strings around the hits are followed here. Whether a hit is sound JSON is
 * for the callback to find out; the rest, put together with an empty `hits`, is parsed at the end,
 * so that a broken, doubled or unfinished document never passes.
 */
export function createExportScanner(
  onHit: (hit: RawHit) => void,
  limits: ScanLimits = defaultScanLimits,
): ExportScanner {
  const envelope = createEnvelope()
  const hit = createHitCollector(onHit, limits)
  let place: 'envelope' | 'hits' | 'hit' = 'envelope'
  let beforeHit: 'first' | 'comma' | 'next' = 'first'

  function feed(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (place === 'hit') {
        at = hit.take(chunk, at)
        if (hit.ended) place = 'hits'
      } else if (place === 'hits') {
        at = betweenHits(chunk, at)
      } else {
        at = envelope.take(chunk, at)
        if (envelope.atHits) place = 'hits'
      }
    }
  }

  function betweenHits(chunk: Uint8Array, at: number): number {
    const byte = chunk[at] as number
    if (isSpace(byte)) return at + 1
    if (byte === CLOSE_BRACKET && beforeHit !== 'next') {
      envelope.leaveHits()
      place = 'envelope'
      return at
    }
    if (byte === COMMA && beforeHit === 'comma') {
      beforeHit = 'next'
      return at + 1
    }
    if (byte === OPEN_BRACE && beforeHit !== 'comma') {
      hit.start()
      beforeHit = 'comma'
      place = 'hit'
      return at
    }
    throw broken(`hit ${hit.count} is not an object`)
  }

  function end(): ExportEnvelope {
    if (place === 'hit') throw cutShort(`in the middle of hit ${hit.count}`)
    if (place === 'hits') throw cutShort(`after ${hit.count} hits`)
    return { kibanaVersion: envelope.finish(), hits: hit.count }
  }

  return { feed, end, kibanaVersion: envelope.kibanaVersion }
}

/** Gathers the bytes of one hit after another. */
function createHitCollector(onHit: (hit: RawHit) => void, limits: ScanLimits) {
  let carried = new Uint8Array(64 * 1024)
  let carriedLength = 0
  let marks = new Int32Array(256)
  let markCount = 0
  let depth = 0
  let inString = false
  let escaped = false

  const collector = {
    count: 0,
    ended: false,
    start(): void {
      collector.ended = false
      carriedLength = 0
      markCount = 0
      depth = 0
    },
    /** Takes bytes from `start` up to the end of the hit or of the chunk; returns where it stopped. */
    take(chunk: Uint8Array, start: number): number {
      const length = chunk.length
      const offset = carriedLength - start
      let at = start
      while (at < length) {
        if (inString) {
          at = skipString(chunk, at)
          continue
        }
        const byte = chunk[at] as number
        if (byte === QUOTE) {
          inString = true
        } else if (byte === COMMA || byte === COLON) {
          if (depth <= MARK_DEPTH) mark(offset + at)
        } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          depth += 1
          if (depth > limits.maxDepth) throw tooDeep()
          if (depth <= MARK_DEPTH) mark(offset + at)
        } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          if (depth <= MARK_DEPTH) mark(offset + at)
          depth -= 1
          if (depth === 0) {
            finish(chunk, start, at + 1)
            return at + 1
          }
        }
        at += 1
      }
      carry(chunk, start, length)
      return length
    },
  }

  /** Moves over string content; leaves the string at its closing quote. */
  function skipString(chunk: Uint8Array, from: number): number {
    const length = chunk.length
    let at = from
    if (escaped) {
      escaped = false
      at += 1
    }
    while (at < length) {
      const byte = chunk[at] as number
      if (byte === QUOTE) {
        inString = false
        return at + 1
      }
      if (byte === BACKSLASH) {
        at += 1
        if (at === length) escaped = true
      }
      at += 1
    }
    return length
  }

  function finish(chunk: Uint8Array, start: number, end: number): void {
    let bytes = chunk.subarray(start, end)
    if (carriedLength > 0) {
      carry(chunk, start, end)
      bytes = carried.subarray(0, carriedLength)
    }
    if (bytes.length > limits.maxHitBytes) throw tooLarge()
    const index = collector.count
    collector.count += 1
    collector.ended = true
    onHit({ bytes, index, marks: marks.subarray(0, markCount) })
  }

  function carry(chunk: Uint8Array, start: number, end: number): void {
    const needed = carriedLength + end - start
    if (needed > limits.maxHitBytes) throw tooLarge()
    if (needed > carried.length) {
      const larger = new Uint8Array(Math.max(needed, carried.length * 2))
      larger.set(carried.subarray(0, carriedLength))
      carried = larger
    }
    carried.set(chunk.subarray(start, end), carriedLength)
    carriedLength = needed
  }

  function mark(position: number): void {
    if (markCount === marks.length) {
      const larger = new Int32Array(marks.length * 2)
      larger.set(marks)
      marks = larger
    }
    marks[markCount] = position
    markCount += 1
  }

  function tooLarge(): DashkeepError {
    return new DashkeepError(
      `Cannot read the export: hit ${collector.count} is larger than ${limits.maxHitBytes} bytes`,
      { hint: 'raise limits.maxHitBytes; a hit is held in memory about ten times over' },
    )
  }

  function tooDeep(): DashkeepError {
    return broken(`hit ${collector.count} is nested deeper than ${limits.maxDepth} levels`)
  }

  return collector
}

/** Everything around the hits: gathered, and parsed once the document has ended. */
function createEnvelope() {
  let bytes = new Uint8Array(1024)
  let length = 0
  let depth = 0
  let inString = false
  let escaped = false
  let keyStart = -1
  let key = ''
  let value: 'key' | 'value' | undefined
  let hitsNamed = false
  let hitsSeen = false
  let early: string | undefined

  const envelope = {
    /** True while the next byte belongs to the content of `hits`. */
    atHits: false,
    take(chunk: Uint8Array, at: number): number {
      const byte = chunk[at] as number
      push(byte)
      if (inString) insideString(byte)
      else if (!isSpace(byte)) outsideString(byte)
      return at + 1
    },
    leaveHits(): void {
      envelope.atHits = false
    },
    kibanaVersion: (): string | undefined => early,
    finish(): string {
      if (inString || depth > 0) throw cutShort(hitsSeen ? 'after its hits' : 'before its hits')
      if (/^[ \n\r\t]*$/.test(text())) throw cutShort('before its first byte')
      const document = parseEnvelope(text())
      if (!hitsSeen) throw broken('it has no hits array')
      if (typeof document.kibanaVersion !== 'string') throw broken('it has no kibanaVersion')
      return document.kibanaVersion
    },
  }

  function insideString(byte: number): void {
    if (escaped) escaped = false
    else if (byte === BACKSLASH) escaped = true
    else if (byte === QUOTE) {
      inString = false
      if (keyStart >= 0) endKey()
    }
  }

  /** A second `hits` is refused however it is spelled: JSON parsers would read only the last. */
  function endKey(): void {
    key = text(keyStart)
    keyStart = -1
    if (!namesHits(key)) return
    if (hitsNamed) throw broken('it has more than one member named hits')
    hitsNamed = true
  }

  function outsideString(byte: number): void {
    if (byte === QUOTE) {
      inString = true
      if (depth === 1 && value === 'key') keyStart = length - 1
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === 1 && value === 'value' && byte === OPEN_BRACKET && key === '"hits"') enterHits()
      depth += 1
      if (depth === 1) value = 'key'
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1
    } else if (depth === 1) {
      if (byte === COMMA) value = 'key'
      if (byte === COLON) value = 'value'
    }
  }

  function enterHits(): void {
    if (hitsSeen) throw broken('it has more than one member named hits')
    hitsSeen = true
    envelope.atHits = true
    early = earlyVersion(`${text()}]}`)
  }

  function push(byte: number): void {
    if (length === bytes.length) {
      if (length >= MAX_ENVELOPE_BYTES) {
        throw broken(`its members besides hits are larger than ${MAX_ENVELOPE_BYTES} bytes`)
      }
      const larger = new Uint8Array(length * 2)
      larger.set(bytes)
      bytes = larger
    }
    bytes[length] = byte
    length += 1
  }

  function text(start = 0): string {
    return Buffer.from(bytes.buffer, start, length - start).toString('utf8')
  }

  return envelope
}

function namesHits(key: string): boolean {
  if (!key.includes('\\')) return key === '"hits"'
  try {
    return JSON.parse(key) === 'hits'
  } catch {
    return false
  }
}

function parseEnvelope(text: string): Record<string, unknown> {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw broken('it is not one JSON document')
  }
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    throw broken('it is not a JSON object')
  }
  return document as Record<string, unknown>
}

function earlyVersion(text: string): string | undefined {
  try {
    const { kibanaVersion } = JSON.parse(text) as { kibanaVersion?: unknown }
    return typeof kibanaVersion === 'string' ? kibanaVersion : undefined
  } catch {
    return undefined
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function broken(state: string): DashkeepError {
  return new DashkeepError(`Cannot read the export: ${state}`, {
    hint: 'look at the answer with curl: it is not what the export operation promises',
  })
}

function cutShort(where: string): DashkeepError {
  return new DashkeepError(`Cannot read the export: it ends ${where}`, {
    hint: 'the connection was cut or the server failed midway; try again',
    transient: true,
  })
}
