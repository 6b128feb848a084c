import { DashkeepError } from '../errors.ts'
import { defaultMaxExportBytes } from '../export-limit.ts'
import { CLOSE_BRACKET, COMMA, OPEN_BRACE } from './ascii.ts'
import { broken, createEnvelope, cutShort, type ExportEnvelope, isSpace } from './envelope.ts'
import { createHitReader, hitBuffer } from './hit-reader.ts'

/** One hit of an export document: valid JSON, byte for byte as in the body. */
export interface RawHit {
  /** The hit's bytes, from `{` to `}`. They are valid until the callback returns: copy to keep. */
  readonly bytes: Buffer
  /** The hit's index in `hits`, from 0. */
  readonly index: number
  /** Offsets of its members in `bytes`, as described at `MEMBER`. Valid as long as `bytes`. */
  readonly members: Int32Array
}

/** Limits, so that a hostile or broken document cannot use up the memory. */
export interface ScanLimits {
  /** Largest document accepted, in bytes. */
  readonly maxExportBytes: number
  /** Most hits accepted in one document. An index needs 32 bytes for each. */
  readonly maxObjects: number
  /** Largest hit accepted, in bytes. A whole hit must fit into memory. */
  readonly maxHitBytes: number
  /** Deepest nesting accepted within a hit. */
  readonly maxDepth: number
}

/** The limits that apply when no others are given. */
export const defaultScanLimits: ScanLimits = {
  maxExportBytes: defaultMaxExportBytes,
  maxObjects: 3_000_000,
  maxHitBytes: 16 * 1024 ** 2,
  maxDepth: 1000,
}

/** Finds the hits of one export document that arrives in chunks. */
interface ExportScanner {
  /** Takes the next bytes and reports complete hits. Throws when the bytes are not an export. */
  feed(chunk: Uint8Array): void
  /**
   * Says that the body has ended. Reports the last hits if `feed` has not. Throws when the document
   * has not ended, or is no export.
   */
  end(): ExportEnvelope
  /** The `kibanaVersion`, once it is known: at the start or at the end, as the server orders it. */
  kibanaVersion(): string | undefined
}

/** Bytes that are read at once, unless a hit is larger. */
const MAX_PIECE_BYTES = 128 * 1024

/**
 * Splits an export document (specification, "Export result") into its hits without holding it.
 *
 * Around the hits the scanner follows only brackets and strings. At the end that part is parsed with
 * an empty `hits`, so a broken or unfinished document is always refused. A hit is read in one go. A
 * hit that is not complete is read again from its start once there are twice as many bytes, or once
 * the body has ended.
 */
export function createExportScanner(
  onHit: (hit: RawHit) => void,
  limits: ScanLimits = defaultScanLimits,
): ExportScanner {
  const envelope = createEnvelope()
  const reader = createHitReader(limits.maxDepth, (state) => broken(`hit ${count} ${state}`))
  let place: 'envelope' | 'hits' | 'hit' = 'envelope'
  let beforeHit: 'first' | 'comma' | 'next' = 'first'
  let count = 0
  const unread = createUnreadBytes(limits, readFrom)

  /** Reads the buffer up to the first hit that is not complete, and returns the offset there. */
  function readFrom(buffer: Buffer, filled: number): number {
    let at = 0
    while (at < filled) {
      const next = place === 'hit' ? readHit(buffer, at, filled) : readOther(buffer, at)
      if (next === undefined) break
      at = next
    }
    return at
  }

  /** Returns the offset after the hit; undefined when the hit is not complete. */
  function readHit(buffer: Buffer, at: number, filled: number): number | undefined {
    const end = reader.read(buffer, at)
    if (end < 0 && ~end < filled) throw broken(`hit ${count} is not sound JSON`)
    if ((end < 0 ? filled : end) - at > limits.maxHitBytes) throw hitTooLarge(count, limits)
    if (end < 0) return undefined
    if (count === limits.maxObjects) throw tooManyObjects(limits)
    onHit({ bytes: buffer.subarray(at, end), index: count, members: reader.members() })
    count += 1
    place = 'hits'
    return end
  }

  function readOther(buffer: Buffer, at: number): number {
    if (place === 'hits') return betweenHits(buffer[at] as number, at)
    const next = envelope.take(buffer, at)
    if (envelope.atHits) place = 'hits'
    return next
  }

  function betweenHits(byte: number, at: number): number {
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
      beforeHit = 'comma'
      place = 'hit'
      return at
    }
    throw broken(`hit ${count} is not an object`)
  }

  function end(): ExportEnvelope {
    unread.read()
    if (place === 'hit') throw cutShort(`in the middle of hit ${count}`)
    if (place === 'hits') throw cutShort(`after ${count} hits`)
    return { ...envelope.finish(), hits: count }
  }

  return { feed: unread.feed, end, kibanaVersion: envelope.kibanaVersion }
}

/**
 * Keeps the bytes that have been received and not read yet. `readFrom` gets the buffer, which has a
 * NUL after its `filled` bytes, and returns how many bytes it has read. It is called again when the
 * number of unread bytes has doubled, or exceeds the largest hit.
 */
function createUnreadBytes(
  limits: ScanLimits,
  readFrom: (buffer: Buffer, filled: number) => number,
) {
  let buffer = hitBuffer(0)
  let filled = 0
  let received = 0
  /** Unread bytes that cause the next call of `readFrom`. */
  let enough = 1

  function read(): void {
    buffer[filled] = 0
    const at = readFrom(buffer, filled)
    buffer.copyWithin(0, at, filled)
    filled -= at
    enough = Math.min(2 * filled, limits.maxHitBytes) + 1
    makeRoom(enough)
  }

  function makeRoom(bytes: number): void {
    if (bytes < buffer.length) return
    const larger = hitBuffer(bytes)
    larger.set(buffer.subarray(0, filled))
    buffer = larger
  }

  function feed(chunk: Uint8Array): void {
    received += chunk.length
    if (received > limits.maxExportBytes) throw documentTooLarge(limits)
    makeRoom(Math.min(filled + chunk.length, MAX_PIECE_BYTES))
    for (let taken = 0; taken < chunk.length; ) {
      const piece = chunk.subarray(taken, taken + buffer.length - 1 - filled)
      buffer.set(piece, filled)
      filled += piece.length
      taken += piece.length
      if (filled >= enough) read()
    }
  }

  return { feed, read }
}

function hitTooLarge(count: number, { maxHitBytes }: ScanLimits): DashkeepError {
  return new DashkeepError(
    `Cannot read the export: hit ${count} is larger than ${maxHitBytes} bytes`,
    { hint: 'raise limits.maxHitBytes; a hit needs about four times its size in memory' },
  )
}

function tooManyObjects({ maxObjects }: ScanLimits): DashkeepError {
  return new DashkeepError(`Cannot read the export: it holds more than ${maxObjects} objects`, {
    hint: 'raise limits.maxObjects; each object takes 32 bytes of memory',
  })
}

function documentTooLarge({ maxExportBytes }: ScanLimits): DashkeepError {
  return new DashkeepError(`Cannot read the export: it is larger than ${maxExportBytes} bytes`, {
    hint: 'raise limits.maxExportBytes',
  })
}
