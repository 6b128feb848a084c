/** Bytes of a record. */
export const RECORD_BYTES = 32

/** Records lie in blocks, so that growing copies nothing. */
const BLOCK_RECORDS = 2048
const RECORD_WORDS = RECORD_BYTES / Uint32Array.BYTES_PER_ELEMENT

/** So few records are sorted faster by comparing them than by counting bytes. */
const FEW_RECORDS = 24

/**
 * Any number of records of 32 bytes, numbered from 0. They take hardly more memory than their bytes,
 * also while they are sorted. Bytes are given and returned as text, a character each: a small buffer
 * for each of a million records would cost far more than the records.
 */
export interface Records {
  readonly count: number
  /** Adds a record, in two parts. */
  add(start: string, rest: string): void
  /** Sorts the records by their bytes. */
  sort(): void
  /** The bytes of a record between two places in it. */
  text(number: number, from: number, to: number): string
  /** The bytes of all records, in their order. */
  pieces(): Uint8Array[]
}

/** Begins without any record. */
export function createRecords(): Records {
  const blocks: Buffer[] = []
  let count = 0

  function add(start: string, rest: string): void {
    const place = offsetOf(count)
    if (place === 0) blocks.push(Buffer.allocUnsafeSlow(BLOCK_RECORDS * RECORD_BYTES))
    const block = blockOf(blocks, count)
    block.write(start, place, 'latin1')
    block.write(rest, place + start.length, 'latin1')
    count += 1
  }

  return {
    get count() {
      return count
    },
    add,
    sort: () => sortRecords(blocks, count),
    text(number, from, to) {
      const place = offsetOf(number)
      return blockOf(blocks, number).toString('latin1', place + from, place + to)
    },
    pieces: () =>
      blocks.map((block, at) => block.subarray(0, (count - at * BLOCK_RECORDS) * RECORD_BYTES)),
  }
}

/** What belongs to the block that a record lies in. */
function blockOf<T>(blocks: readonly T[], number: number): T {
  return blocks[Math.floor(number / BLOCK_RECORDS)] as T
}

/** Where a record begins in its block. */
function offsetOf(number: number): number {
  return (number % BLOCK_RECORDS) * RECORD_BYTES
}

/**
 * Sorts records where they lie, by one byte after the other: an American flag sort. To sort their
 * numbers instead would take a quarter of their memory once more.
 */
function sortRecords(blocks: readonly Buffer[], count: number): void {
  const words = blocks.map((block) => new Uint32Array(block.buffer))

  const byteOf = (number: number, byte: number) =>
    blockOf(blocks, number)[offsetOf(number) + byte] as number

  function swap(a: number, b: number): void {
    const [ofA, ofB] = [blockOf(words, a), blockOf(words, b)]
    const [atA, atB] = [(a % BLOCK_RECORDS) * RECORD_WORDS, (b % BLOCK_RECORDS) * RECORD_WORDS]
    for (let word = 0; word < RECORD_WORDS; word += 1) {
      const kept = ofA[atA + word] as number
      ofA[atA + word] = ofB[atB + word] as number
      ofB[atB + word] = kept
    }
  }

  function isAfter(a: number, b: number, byte: number): boolean {
    for (let at = byte; at < RECORD_BYTES; at += 1) {
      const difference = byteOf(a, at) - byteOf(b, at)
      if (difference !== 0) return difference > 0
    }
    return false
  }

  function insertionSort(from: number, to: number, byte: number): void {
    for (let next = from + 1; next < to; next += 1) {
      for (let at = next; at > from && isAfter(at - 1, at, byte); at -= 1) swap(at - 1, at)
    }
  }

  /** Sorts a range whose records have everything before `byte` in common. */
  function sortRange(from: number, to: number, byte: number): void {
    if (to - from <= FEW_RECORDS || byte === RECORD_BYTES) {
      insertionSort(from, to, byte)
      return
    }
    const ends = groupEnds(from, to, byte)
    const starts = Uint32Array.of(from, ...ends.subarray(0, -1))
    const unsorted = starts.slice()
    for (const [group, end] of ends.entries()) {
      for (let number = unsorted[group] as number; number < end; ) {
        const belongs = byteOf(number, byte)
        if (belongs === group) {
          number += 1
        } else {
          const place = unsorted[belongs] as number
          swap(number, place)
          unsorted[belongs] = place + 1
        }
      }
    }
    for (const [group, end] of ends.entries()) sortRange(starts[group] as number, end, byte + 1)
  }

  /** Where the records with 0 at `byte` will end, those with 1, and so on. */
  function groupEnds(from: number, to: number, byte: number): Uint32Array {
    const sizes = new Uint32Array(256)
    for (let number = from; number < to; number += 1) {
      const group = byteOf(number, byte)
      sizes[group] = (sizes[group] as number) + 1
    }
    let end = from
    return sizes.map((size) => {
      end += size
      return end
    })
  }

  sortRange(0, count, 0)
}
