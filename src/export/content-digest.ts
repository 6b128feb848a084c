import { createHash, hash } from 'node:crypto'
import { touchMembers, unstableHitMembers } from '../objects/unstable-members.ts'
import type { RawHit } from './export-scanner.ts'
import {
  endOf,
  firstOf,
  hasAnyKey,
  hasKey,
  isObject,
  memberName,
  offset,
  THE_HIT,
} from './hit-members.ts'
import { MEMBER } from './hit-reader.ts'
import { createRecords, RECORD_BYTES, type Records, sortRecords } from './records.ts'

/**
 * Size of each half of a record in bytes: half of a SHA-256. The first half is the digest of the object's
 * id, the second the digest of its stable members.
 */
const HALF_BYTES = RECORD_BYTES / 2

/** Most ids in a sample. A sample of fewer ids is complete. */
const SAMPLE_IDS = 128

/** Bytes of an id's digest in a sample. */
const SAMPLE_BYTES = 5

/**
 * The objects of an export and their states. Needs 32 bytes for each object, whatever its size. The order
 * of objects does not matter.
 */
interface ObjectIndex {
  /** Adds an object. */
  add(id: string, hit: RawHit): void
  /** Sorts the index. Nothing can be added afterwards. */
  finish(): SortedIndex
  /** Frees the memory of an index that is not needed. */
  discard(): void
}

/** A finished index, sorted by the bytes of its records. */
export interface SortedIndex {
  readonly count: number
  /** Number of objects whose id an earlier object has too. */
  readonly duplicates: number
  /** Number of different ids; hits without one do not count. */
  readonly distinct: number
  /** SHA-256 of the sorted records, as hex. Equal if and only if no object changed. */
  readonly contentDigest: string
  /** The position of the object with this id, from 0; -1 when there is none. */
  find(id: string): number
  /** Whether the object at a position, or one with the same id, is in the same state as `hit`. */
  matches(at: number, hit: RawHit): boolean
  /** Whether the object at a position has the id of the one before it. */
  isDuplicate(at: number): boolean
  /**
   * The first 40 bits of the SHA-256 of up to 128 ids, in base64: all ids, or those with the lowest
   * digests, which are a random sample. It reveals nothing about ids that cannot be guessed.
   */
  sampleIds(): string
  /** Counts the ids of another index's sample that this index lacks. */
  countLost(sample: string): LostIds
  /** Frees the memory at once. Only `count`, `duplicates`, `distinct` and `contentDigest` stay. */
  discard(): void
}

/** Result of the comparison with a sample of ids. */
export interface LostIds {
  readonly lost: number
  readonly sampled: number
  /** Whether the sample contains all ids of its index. */
  readonly isWhole: boolean
}

/**
 * Creates an index. `stableBytes` defines which members count. With `touches`, members that differ when
 * an object was saved without a change count too.
 */
export function createObjectIndex({ touches = false } = {}): ObjectIndex {
  const records = createRecords()
  return {
    add: (id, hit) => records.add(idDigest(id), stateDigest(hit, touches)),
    finish: () => indexOf(sortRecords(records), touches),
    discard: records.discard,
  }
}

/**
 * Digest of an object's id: SHA-256 of the id as a JSON string. JSON escapes lone surrogates, so that ids
 * that differ only in these get different digests.
 */
function idDigest(id: string): string {
  return hash('sha256', JSON.stringify(id), 'binary').slice(0, HALF_BYTES)
}

/** Digest of an object's state: SHA-256 of its stable bytes. */
function stateDigest(hit: RawHit, touches: boolean): string {
  return hash('sha256', stableBytes(hit, { touches }), 'binary').slice(0, HALF_BYTES)
}

/** Digest of the empty id, for hits without an id. */
const withoutId = idDigest('')

/** Makes an index from sorted records. */
function indexOf(records: Records, touches: boolean): SortedIndex {
  const { count } = records
  const keyAt = (at: number) => records.text(at, 0, HALF_BYTES)
  const stateAt = (at: number) => records.text(at, HALF_BYTES, RECORD_BYTES)
  const isDuplicate = (at: number) => at > 0 && keyAt(at - 1) === keyAt(at)

  const digest = createHash('sha256')
  for (const piece of records.pieces()) digest.update(piece)
  let duplicates = 0
  for (let at = 0; at < count; at += 1) if (isDuplicate(at)) duplicates += 1
  const findId = (id: string) => findKey(keyAt, count, idDigest(id))
  const isWithoutId = (at: number) => keyAt(at) === withoutId

  function sampleIds(): string {
    let sample = ''
    for (let at = 0; at < count && sample.length < SAMPLE_IDS * SAMPLE_BYTES; at += 1) {
      if (isDuplicate(at) || isWithoutId(at)) continue
      sample += keyAt(at).slice(0, SAMPLE_BYTES)
    }
    return Buffer.from(sample, 'latin1').toString('base64')
  }

  function countLost(sample: string): LostIds {
    const ids = Buffer.from(sample, 'base64').toString('latin1')
    const sampled = ids.length / SAMPLE_BYTES
    let lost = 0
    for (let at = 0; at < ids.length; at += SAMPLE_BYTES) {
      if (findKey(keyAt, count, ids.slice(at, at + SAMPLE_BYTES)) < 0) lost += 1
    }
    return { lost, sampled, isWhole: sampled < SAMPLE_IDS }
  }

  return {
    count,
    duplicates,
    distinct: count - duplicates - (findId('') < 0 ? 0 : 1),
    contentDigest: digest.digest('hex'),
    find: findId,
    matches(at, hit) {
      const state = stateDigest(hit, touches)
      const key = keyAt(at)
      for (let next = at; next < count && keyAt(next) === key; next += 1) {
        if (stateAt(next) === state) return true
      }
      return false
    },
    isDuplicate,
    sampleIds,
    countLost,
    discard: records.discard,
  }
}

/**
 * The first position of a key that starts with `key`, or -1. Binary search. Each character is a byte, so
 * that texts sort like the records.
 */
function findKey(keyAt: (at: number) => string, count: number, key: string): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keyAt(middle) < key) low = middle + 1
    else high = middle
  }
  return low < count && keyAt(low).startsWith(key) ? low : -1
}

const unstableKeys = unstableHitMembers.map((name) => memberName(name).key)
const touchKeys = touchMembers.map((name) => memberName(name).key)
const sourceKey = memberName('_source').key

let scratch = Buffer.alloc(64 * 1024)

/**
 * The hit's bytes without its unstable members: `_index` and `_score` of the hit; `updated_at`,
 * `version` and `_updatedAt` of its `_source`. The remaining members stay byte for byte, in order, joined
 * by commas. Bytes are compared instead of parsed values, so that a change of the last digit of a number
 * beyond 2^53 is found. With `touches`, all members of `_source` stay. Valid until the next call.
 */
export function stableBytes(hit: RawHit, { touches = false } = {}): Uint8Array {
  if (scratch.length < hit.bytes.length) scratch = Buffer.alloc(hit.bytes.length * 2)
  const copy: Copy = { hit, from: 0, to: 0, written: 0 }
  take(copy, 0, 1)
  let kept = false
  const end = endOf(hit, THE_HIT)
  for (let member = firstOf(THE_HIT); member < end; member = offset(hit, member, MEMBER.next)) {
    if (hasAnyKey(hit, member, unstableKeys)) continue
    takeSeparator(copy, member, kept)
    if (hasKey(hit, member, sourceKey) && isObject(hit, member)) takeSource(copy, member, touches)
    else take(copy, offset(hit, member, MEMBER.start), offset(hit, member, MEMBER.end))
    kept = true
  }
  take(copy, hit.bytes.length - 1, hit.bytes.length)
  flush(copy)
  return scratch.subarray(0, copy.written)
}

/** An unfinished copy: the bytes in `scratch`, and the range that is copied next. */
interface Copy {
  readonly hit: RawHit
  from: number
  to: number
  written: number
}

/** Takes `_source` without its unstable members. */
function takeSource(copy: Copy, source: number, touches: boolean): void {
  const { hit } = copy
  const value = offset(hit, source, MEMBER.value)
  const valueEnd = offset(hit, source, MEMBER.valueEnd)
  take(copy, offset(hit, source, MEMBER.start), value + 1)
  let kept = false
  const end = endOf(hit, source)
  for (let member = firstOf(source); member < end; member = offset(hit, member, MEMBER.next)) {
    if (!touches && hasAnyKey(hit, member, touchKeys)) continue
    takeSeparator(copy, member, kept)
    take(copy, offset(hit, member, MEMBER.start), offset(hit, member, MEMBER.end))
    kept = true
  }
  take(copy, valueEnd - 1, offset(hit, source, MEMBER.end))
}

/** Takes the comma before a member, unless it is the first. */
function takeSeparator(copy: Copy, member: number, follows: boolean): void {
  const start = offset(copy.hit, member, MEMBER.start)
  if (follows) take(copy, start - 1, start)
}

/** Takes a range of the hit. Adjacent ranges are copied together. */
function take(copy: Copy, from: number, to: number): void {
  if (from !== copy.to) {
    flush(copy)
    copy.from = from
  }
  copy.to = to
}

function flush(copy: Copy): void {
  scratch.set(copy.hit.bytes.subarray(copy.from, copy.to), copy.written)
  copy.written += copy.to - copy.from
}
