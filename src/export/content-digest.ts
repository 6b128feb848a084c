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
 * Bytes of each half of a record, the first half of SHA-256: the one stands for the object's id, the
 * other for its stable members.
 */
const HALF_BYTES = RECORD_BYTES / 2

/** Ids of a sample: a type with no more is known to the last id. */
const SAMPLE_IDS = 128

/** Bytes of an id's half of a record that a sample keeps. */
const SAMPLE_BYTES = 5

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
  /** Number of different ids; hits without one do not count. */
  readonly distinct: number
  /** SHA-256 over the sorted records, as hex: equal exactly when no object changed. */
  readonly contentDigest: string
  /** The position of the object with this id, from 0, or -1 when the index does not hold it. */
  find(id: string): number
  /** Whether the object at a position, or one with the same id, is in the same state as `hit`. */
  matches(at: number, hit: RawHit): boolean
  /** Whether the object at a position has the id of the one before it. */
  isDuplicate(at: number): boolean
  /**
   * The first 40 bits of the SHA-256 of up to 128 ids, those with the lowest, in base64: all ids or
   * a sample that chance has drawn. It says nothing of ids that nobody can guess.
   */
  sampleIds(): string
  /** How many ids of another index's sample this one does not hold, and how many there are. */
  countLost(sample: string): LostIds
}

/** What has become of the ids of a sample. */
export interface LostIds {
  readonly lost: number
  readonly sampled: number
  /** Whether the sample held every id there was. */
  readonly isWhole: boolean
}

/**
 * Begins an index. What counts as stable is said at `stableBytes`; with `touches` the members that
 * differ when an object was touched but not altered count too.
 */
export function createObjectIndex({ touches = false } = {}): ObjectIndex {
  const records = createRecords()
  return {
    add: (id, hit) => records.add(idDigest(id), stateDigest(hit, touches)),
    finish: () => indexOf(sortRecords(records), touches),
  }
}

/**
 * Stands for an object's id: SHA-256 of the id written as a JSON string, which is well formed for
 * every id, so that ids that differ only in a lone surrogate do not meet.
 */
function idDigest(id: string): string {
  return hash('sha256', JSON.stringify(id), 'binary').slice(0, HALF_BYTES)
}

/** Stands for an object's state: SHA-256 of its stable bytes. */
function stateDigest(hit: RawHit, touches: boolean): string {
  return hash('sha256', stableBytes(hit, { touches }), 'binary').slice(0, HALF_BYTES)
}

/** Stands for the id of hits that have none. */
const withoutId = idDigest('')

/** Makes an index of sorted records. */
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
  }
}

/**
 * The first position of a key that begins as `key` does, or -1. Binary search; characters stand for
 * bytes, so that texts sort as the records do.
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
 * `version` and `_updatedAt` of its `_source`. Everything else stays byte for byte and in order,
 * the remaining members joined by one comma. Bytes and not parsed values, since a number beyond
 * 2^53 that changes in its last digit is a change. With `touches` the members of `_source` stay all.
 * Valid until the next call.
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

/** A copy in the making: what lies in `scratch`, and a range that is going to follow. */
interface Copy {
  readonly hit: RawHit
  from: number
  to: number
  written: number
}

/** Takes `_source`, whose members have no others among them that count. */
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

/** Takes the comma before a member that follows another. */
function takeSeparator(copy: Copy, member: number, follows: boolean): void {
  const start = offset(copy.hit, member, MEMBER.start)
  if (follows) take(copy, start - 1, start)
}

/** Takes a range of the hit; one that follows the last is copied with it. */
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
