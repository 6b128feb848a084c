import { createHash, hash } from 'node:crypto'
import type { RawHit } from './export-scanner.ts'

/** Bytes of one record: SHA-256 of the object's id, SHA-256 of its stable members. */
const RECORD_BYTES = 64
const KEY_BYTES = 32
/** Records lie in blocks, so that growing copies nothing. */
const BLOCK_RECORDS = 4096

/**
 * Which objects an export holds and in which state, 64 bytes an object, whatever their size.
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
  /** Whether the object at a place is in the same state as `hit`. */
  matches(place: number, hit: RawHit): boolean
}

/** Begins an index. What counts as stable is said at `stableBytes`. */
export function createObjectIndex(): ObjectIndex {
  const blocks: Buffer[] = []
  let count = 0

  function add(id: string, hit: RawHit): void {
    const place = count % BLOCK_RECORDS
    if (place === 0) blocks.push(Buffer.allocUnsafeSlow(BLOCK_RECORDS * RECORD_BYTES))
    const block = blocks.at(-1) as Buffer
    block.write(objectKey(id), place * RECORD_BYTES, 'binary')
    block.write(objectState(hit), place * RECORD_BYTES + KEY_BYTES, 'binary')
    count += 1
  }

  return { add, finish: () => sortRecords(blocks, count) }
}

/**
 * SHA-256 of an object's id, written as a JSON string: well formed for every id, so that ids that
 * differ only in a lone surrogate do not meet. A byte a character, since a small buffer for each
 * of a million digests would cost far more memory than the digests.
 */
function objectKey(id: string): string {
  return hash('sha256', JSON.stringify(id), 'binary')
}

function objectState(hit: RawHit): string {
  return hash('sha256', stableBytes(hit), 'binary')
}

function sortRecords(blocks: readonly Buffer[], count: number): SortedIndex {
  const record = (number: number) => {
    const start = (number % BLOCK_RECORDS) * RECORD_BYTES
    const block = blocks[Math.floor(number / BLOCK_RECORDS)] as Buffer
    return block.subarray(start, start + RECORD_BYTES)
  }
  const prefixes = new Float64Array(count)
  const order = new Uint32Array(count)
  for (let number = 0; number < count; number += 1) {
    prefixes[number] = record(number).readUIntBE(0, 6)
    order[number] = number
  }
  order.sort((a, b) => {
    const byPrefix = (prefixes[a] as number) - (prefixes[b] as number)
    return byPrefix !== 0 ? byPrefix : Buffer.compare(record(a), record(b))
  })
  const sorted = (place: number) => record(order[place] as number)
  const digest = createHash('sha256')
  let duplicates = 0
  for (let place = 0; place < count; place += 1) {
    digest.update(sorted(place))
    if (place > 0 && sameKey(sorted(place - 1), sorted(place))) duplicates += 1
  }
  return {
    count,
    duplicates,
    contentDigest: digest.digest('hex'),
    find: (id) => findKey(sorted, count, Buffer.from(objectKey(id), 'latin1')),
    matches: (place, hit) =>
      objectState(hit) === sorted(place).toString('latin1', KEY_BYTES, RECORD_BYTES),
  }
}

function findKey(sorted: (place: number) => Buffer, count: number, key: Buffer): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted(middle).compare(key, 0, KEY_BYTES, 0, KEY_BYTES) < 0) low = middle + 1
    else high = middle
  }
  return low < count && sorted(low).compare(key, 0, KEY_BYTES, 0, KEY_BYTES) === 0 ? low : -1
}

function sameKey(a: Buffer, b: Buffer): boolean {
  return a.compare(b, 0, KEY_BYTES, 0, KEY_BYTES) === 0
}

const COMMA = 0x2c
const COLON = 0x3a

/** Members of the hit that differ between two exports of the same object. */
const unstableHitMembers = ['"_index"', '"_score"']
/** Members of `_source` that differ when an object was touched but not altered. */
const unstableSourceMembers = ['"updated_at"', '"version"', '"_updatedAt"']

let scratch = Buffer.alloc(64 * 1024)

/**
 * The hit's bytes without its unstable members: `_index` and `_score` of the hit; `updated_at`,
 * `version` and `_updatedAt` of its `_source`. Everything else stays byte for byte and in order,
 * the remaining members joined by one comma. Bytes and not parsed values, since a number beyond
 * 2^53 that changes in its last digit is a change. Valid until the next call.
 */
export function stableBytes(hit: RawHit): Uint8Array {
  if (scratch.length < hit.bytes.length) scratch = Buffer.alloc(hit.bytes.length * 2)
  const reader: Reader = { hit, mark: 0, written: 0 }
  copyMembers(reader, unstableHitMembers, true)
  return scratch.subarray(0, reader.written)
}

interface Reader {
  readonly hit: RawHit
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
      copyMembers(reader, unstableSourceMembers, false)
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

function memberKey(bytes: Uint8Array, start: number, colon: number): string {
  if (colon - start > 64) return ''
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, colon - start)
    .toString('binary')
    .trim()
}

function copyBytes(reader: Reader, start: number, end: number): void {
  scratch.set(reader.hit.bytes.subarray(start, end), reader.written)
  reader.written += end - start
}

function write(reader: Reader, character: '{' | '}' | ','): void {
  scratch[reader.written] = character.charCodeAt(0)
  reader.written += 1
}
