import { DashkeepError } from '../errors.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './ascii.ts'

/** The outermost members of an export document as `JSON.parse` gives them, but without hits. */
export type ExportMembers = Readonly<Record<string, unknown>>

/** The members of an export document other than its hits. */
export interface ExportEnvelope {
  readonly kibanaVersion: string
  /** Number of hits. */
  readonly hits: number
  /** The members of the document; `hits` is an empty array. */
  readonly members: ExportMembers
}

/** Most bytes other than hits: the kibanaVersion and unknown members together. */
const MAX_ENVELOPE_BYTES = 1024 * 1024

/** Collects everything around the hits. Parses it once the document has ended. */
export function createEnvelope() {
  const text = createText()
  const endsString = createStringEnd()
  let depth = 0
  let inString = false
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
      text.push(byte)
      if (inString) insideString(byte)
      else if (!isSpace(byte)) outsideString(byte)
      return at + 1
    },
    leaveHits(): void {
      envelope.atHits = false
    },
    kibanaVersion: (): string | undefined => early,
    finish() {
      if (inString || depth > 0) throw cutShort(hitsSeen ? 'after its hits' : 'before its hits')
      return parseEnvelope(text.read(), { hitsSeen })
    },
  }

  function insideString(byte: number): void {
    if (!endsString(byte)) return
    inString = false
    if (keyStart >= 0) endKey()
  }

  /** Refuses a second `hits` in any spelling, because JSON parsers would read only the last one. */
  function endKey(): void {
    key = text.read(keyStart)
    keyStart = -1
    if (!namesHits(key)) return
    if (hitsNamed) throw broken('it has more than one member named hits')
    hitsNamed = true
  }

  function outsideString(byte: number): void {
    if (byte === QUOTE) {
      inString = true
      if (depth === 1 && value === 'key') keyStart = text.length() - 1
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === 1 && value === 'value' && byte === OPEN_BRACKET && key === '"hits"') enterHits()
      depth += 1
      if (depth === 1) value = 'key'
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1
    } else if (depth === 1 && byte === COMMA) value = 'key'
    else if (depth === 1 && byte === COLON) value = 'value'
  }

  function enterHits(): void {
    if (hitsSeen) throw broken('it has more than one member named hits')
    hitsSeen = true
    envelope.atHits = true
    early = earlyVersion(`${text.read()}]}`)
  }

  return envelope
}

/** Returns a function that gets the bytes of strings after their first quote, and finds each end. */
function createStringEnd(): (byte: number) => boolean {
  let escaped = false
  return (byte) => {
    const ends = byte === QUOTE && !escaped
    escaped = byte === BACKSLASH && !escaped
    return ends
  }
}

/** Collects the bytes around the hits, up to a limit. */
function createText() {
  let bytes = new Uint8Array(1024)
  let length = 0
  return {
    length: () => length,
    push(byte: number): void {
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
    },
    /** What has been collected, from an offset on. */
    read: (start = 0) => Buffer.from(bytes.buffer, start, length - start).toString('utf8'),
  }
}

function namesHits(key: string): boolean {
  if (!key.includes('\\')) return key === '"hits"'
  try {
    return JSON.parse(key) === 'hits'
  } catch {
    return false
  }
}

function parseEnvelope(
  text: string,
  { hitsSeen }: { hitsSeen: boolean },
): Pick<ExportEnvelope, 'kibanaVersion' | 'members'> {
  if (/^[ \n\r\t]*$/.test(text)) throw cutShort('before its first byte')
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw broken('it is not one JSON document')
  }
  if (document === null || typeof document !== 'object' || Array.isArray(document)) {
    throw broken('it is not a JSON object')
  }
  if (!hitsSeen) throw broken('it has no hits array')
  const { kibanaVersion } = document as ExportMembers
  if (typeof kibanaVersion !== 'string') throw broken('it has no kibanaVersion')
  return { kibanaVersion, members: document as ExportMembers }
}

function earlyVersion(text: string): string | undefined {
  try {
    const { kibanaVersion } = JSON.parse(text) as { kibanaVersion?: unknown }
    return typeof kibanaVersion === 'string' ? kibanaVersion : undefined
  } catch {
    return undefined
  }
}

/** Whether a byte is white space in JSON. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The error for bytes that are not an export document. */
export function broken(state: string): DashkeepError {
  return new DashkeepError(`Cannot read the export: ${state}`, {
    hint: 'look at the answer with curl: it is not what the export operation promises',
  })
}

/** The error for an export document that ends too early. */
export function cutShort(where: string): DashkeepError {
  return new DashkeepError(`Cannot read the export: it ends ${where}`, {
    hint: 'the connection was cut or the server failed midway; try again',
    transient: true,
  })
}
