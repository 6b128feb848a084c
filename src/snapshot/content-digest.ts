import { createHash, hash } from 'node:crypto'
import { touchMembers, unstableHitMembers } from '../objects/unstable-members.ts'
import type { RawHit } from './export-scanner.ts'

/** Bytes of each half of a record: the first half of SHA-256, 128 bits. */
const HALF_BYTES = 16
/** Bytes of one record: what stands for the object's id, and for its stable members. */
const RECORD_BYTES = 2 * HALF_BYTES
/** Records lie in blocks, so that growing copies nothing. */
const BLOCK_RECORDS = 4096

/**
 * Which objects an export holds and in which state, 32 bytes an object, whatever their size.
 * Order of arrival does not matter.
 */
export interface ObjectIndex {
  /** Takes the next object. */
  add(id: string, hit: RawHit): void
  /** Sorts what was taken; nothing is added afterwards. */
  finish(): SortedIndex
}

/** A finished index: its records in the order of their bytes. */
export interface SortedIndex {
  readonly count: number
  /** Objects whose id an earlier object has too. */
  readonly duplicates: number
  /** SHA-256 over the sorted records, as hex: equal exactly when no object changed. */
  readonly contentDigest: string
  /** The place of the object with this id, from 0, or -1 when the index does not hold it. */
  find(id: string): number
  /** Whether the object at a place, or one with the same id, is in the same state as `hit`. */
  matches(place: number, hit: RawHit): boolean
  /** Whether the object at a place has the id of the one before it. */
  isDuplicate(place: number): boolean
}

/**
 * Begins an index. What counts as stable is said at `stableBytes`; with `touches` the members that
 * differ when an object was touched but not altered count too.
 */
export function createObjectIndex({ touches = false } = {}): ObjectIndex {
  const blocks: Buffer[] = []
  let count = 0

  function add(id: string, hit: RawHit): void {
    const place = count % BLOCK_RECORDS
    if (place === 0) blocks.push(Buffer.allocUnsafeSlow(BLOCK_RECORDS * RECORD_BYTES))
    const block = blocks.at(-1) as Buffer
    block.write(objectKey(id), place * RECORD_BYTES, 'latin1')
    block.write(objectState(hit, touches), place * RECORD_BYTES + HALF_BYTES, 'latin1')
    count += 1
  }

  return { add, finish: () => sortRecords(blocks, count, touches) }
}

/**
 * Stands for an object's id: SHA-256 of the id written as a JSON string, which is well formed for
 * every id, so that ids that differ only in a lone surrogate do not meet. A character a byte,
 * since a small buffer for each of a million digests would cost far more memory than the digests.
 */
function objectKey(id: string): string {
  return hash('sha256', JSON.stringify(id), 'binary').slice(0, HALF_BYTES)
}

/** Stands for an object's state: SHA-256 of its stable bytes, a character a byte. */
function objectState(hit: RawHit, touches: boolean): string {
  return hash('sha256', stableBytes(hit, { touches }), 'binary').slice(0, HALF_BYTES)
}

function sortRecords(blocks: readonly Buffer[], count: number, touches: boolean): SortedIndex {
  const blockOf = (number: number) => blocks[Math.floor(number / BLOCK_RECORDS)] as Buffer
  const startOf = (number: number) => (number % BLOCK_RECORDS) * RECORD_BYTES
  const compare = (a: number, b: number) => {
    const [blockA, startA, blockB, startB] = [blockOf(a), startOf(a), blockOf(b), startOf(b)]
    for (let at = 0; at < RECORD_BYTES; at += 4) {
      const order = blockA.readUInt32BE(startA + at) - blockB.readUInt32BE(startB + at)
      if (order !== 0) return order
    }
    return 0
  }
  const order = new Uint32Array(count)
  for (let number = 0; number < count; number += 1) order[number] = number
  order.sort(compare)

  const text = (place: number, from: number, to: number) => {
    const start = startOf(order[place] as number)
    return blockOf(order[place] as number).toString('latin1', start + from, start + to)
  }
  const digest = createHash('sha256')
  let duplicates = 0
  for (let place = 0; place < count; place += 1) {
    digest.update(text(place, 0, RECORD_BYTES), 'latin1')
    const sameId = place > 0 && text(place - 1, 0, HALF_BYTES) === text(place, 0, HALF_BYTES)
    if (sameId) duplicates += 1
  }
  return {
    count,
    duplicates,
    contentDigest: digest.digest('hex'),
    find: (id) => findKey((place) => text(place, 0, HALF_BYTES), count, objectKey(id)),
    matches(place, hit) {
      const state = objectState(hit, touches)
      const key = text(place, 0, HALF_BYTES)
      for (let at = place; at < count && text(at, 0, HALF_BYTES) === key; at += 1) {
        if (text(at, HALF_BYTES, RECORD_BYTES) === state) return true
      }
      return false
    },
    isDuplicate: (place) =>
      place > 0 && text(place - 1, 0, HALF_BYTES) === text(place, 0, HALF_BYTES),
  }
}

/** Binary search; characters stand for bytes, so that texts sort as the records do. */
function findKey(keyAt: (place: number) => string, count: number, key: string): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keyAt(middle) < key) low = middle + 1
    else high = middle
  }
  return low < count && keyAt(low) === key ? low : -1
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a

const droppedOfHit = unstableHitMembers.map((name) => JSON.stringify(name))
const droppedOfSource = touchMembers.map((name) => JSON.stringify(name))

let scratch = Buffer.alloc(64 * 1024)

/**
 * The hit's bytes without its unstable members: `_index` and `_score` of the hit; `updated_at`,
 * `version` and `_updatedAt` of its `_source`. Everything else stays byte for byte and in order,
 * the remaining members joined by one comma. Bytes and not parsed values, since a number beyond
 * 2^53 that changes in its last digit is a change. With `touches` the members of `_source` stay all.
 * Valid until the next call.
 */
export function stableBytes(hit: RawHit, { touches = false } = {}): Uint8Array {
  if (scratch.length < hit.bytes.length) scratch = Buffer.alloc(hit.bytes.length * 2)
  const dropped = touches ? [] : droppedOfSource
  const reader: Reader = { hit, dropped, mark: 0, written: 0 }
  copyMembers(reader, droppedOfHit, true)
  return scratch.subarray(0, reader.written)
}

interface Reader {
  readonly hit: RawHit
  /** Members of `_source` to leave out, with their quotes. */
  readonly dropped: readonly string[]
  /** The next mark to look at. */
  mark: number
  /** Bytes in `scratch`. */
  written: number
}

/**
 * Copies the object whose opening brace is the next mark, leaving out `unstable` members. Only
 * the hit itself descends, and only into its `_source`.
 */
function copyMembers(reader: Reader, unstable: readonly string[], isHit: boolean): void {
  const { bytes, marks } = reader.hit
  let start = (marks[reader.mark++] as number) + 1
  write(reader, '{')
  let kept = 0
  for (;;) {
    const colon = marks[reader.mark] as number
    if (bytes[colon] !== COLON) break
    reader.mark += 1
    const key = memberKey(bytes, start, colon)
    const drop = unstable.includes(key)
    const before = reader.written
    if (kept > 0) write(reader, ',')
    if (isHit && key === '"_source"' && bytes[marks[reader.mark] as number] === 0x7b) {
      copyBytes(reader, start, marks[reader.mark] as number)
      copyMembers(reader, reader.dropped, false)
      start = (marks[reader.mark - 1] as number) + 1
    } else if (isHit) {
      skipNested(reader)
    }
    const end = marks[reader.mark++] as number
    copyBytes(reader, start, end)
    if (drop) reader.written = before
    else kept += 1
    start = end + 1
    if (bytes[end] !== COMMA) {
      write(reader, '}')
      return
    }
  }
  reader.mark += 1
  write(reader, '}')
}

/** Moves past the marks inside a member's value; the next mark is the comma or brace after it. */
function skipNested(reader: Reader): void {
  const { bytes, marks } = reader.hit
  const first = bytes[marks[reader.mark] as number]
  if (first !== 0x7b && first !== 0x5b) return
  const close = first === 0x7b ? 0x7d : 0x5d
  reader.mark += 1
  while (bytes[marks[reader.mark] as number] !== close) reader.mark += 1
  reader.mark += 1
}

/** The key's text with its quotes, without the space around it, however much that is. */
function memberKey(bytes: Uint8Array, start: number, colon: number): string {
  let from = start
  while (from < colon && bytes[from] !== QUOTE) from += 1
  let to = colon
  while (to > from && bytes[to - 1] !== QUOTE) to -= 1
  if (to - from > 64) return ''
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1')
}

function copyBytes(reader: Reader, start: number, end: number): void {
  scratch.set(reader.hit.bytes.subarray(start, end), reader.written)
  reader.written += end - start
}

function write(reader: Reader, character: '{' | '}' | ','): void {
  scratch[reader.written] = character.charCodeAt(0)
  reader.written += 1
}
