/** Bytes of a record. */
export const RECORD_BYTES = 32

/** Records per block. A list grows by whole blocks, so that growing copies nothing. */
const BLOCK_RECORDS = 256

/** Most records sorted at once. They are sorted as strings, which take more memory than records. */
const MAX_SORTED_AT_ONCE = 16_384

/**
 * A list of records of 32 bytes, with indexes from 0. It takes hardly more memory than the bytes of
 * the records. Bytes are passed as latin1 text, one character per byte: a million small buffers would
 * take far more memory than the records.
 */
export interface Records {
  readonly count: number
  /** Appends a record, given in one part or two. */
  add(start: string, rest?: string): void
  /** The bytes of a record from offset `from` up to `to`. */
  text(index: number, from: number, to: number): string
  /** The bytes of all records, in order. */
  pieces(): Buffer<ArrayBuffer>[]
  /** Frees the memory at once. The garbage collector would wait until as much is needed again. */
  discard(): void
}

/** Creates an empty list. It uses the blocks in `spare` before it allocates new ones. */
export function createRecords(spare: Buffer<ArrayBuffer>[] = []): Records {
  const blocks: Buffer<ArrayBuffer>[] = []
  let count = 0
  const offsetOf = (index: number) => (index % BLOCK_RECORDS) * RECORD_BYTES
  const blockOf = (index: number) => blocks[Math.floor(index / BLOCK_RECORDS)] as Buffer
  return {
    get count() {
      return count
    },
    add(start, rest = '') {
      const offset = offsetOf(count)
      if (offset === 0) {
        blocks.push(spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_RECORDS * RECORD_BYTES))
      }
      const block = blockOf(count)
      block.write(start, offset, 'latin1')
      block.write(rest, offset + start.length, 'latin1')
      count += 1
    },
    text(index, from, to) {
      const offset = offsetOf(index)
      return blockOf(index).toString('latin1', offset + from, offset + to)
    },
    pieces: () =>
      blocks.map((block, at) => block.subarray(0, (count - at * BLOCK_RECORDS) * RECORD_BYTES)),
    discard() {
      for (const { buffer } of blocks.splice(0)) buffer.transfer(0)
      count = 0
    },
  }
}

/** Moves the records to a new list, in the order of their bytes. The memory moves with them. */
export function sortRecords(records: Records): Records {
  const spare: Buffer<ArrayBuffer>[] = []
  const sorted = createRecords(spare)
  moveSorted(records, sorted, { spare, byte: 0 })
  return sorted
}

/**
 * Sorts records that do not differ before `byte`. Many records are first split into 256 groups by
 * the value of the first byte that differs.
 */
function moveSorted(
  records: Records,
  sorted: Records,
  { spare, byte }: { spare: Buffer<ArrayBuffer>[]; byte: number },
): void {
  if (records.count <= MAX_SORTED_AT_ONCE) {
    for (const text of [...drain(records, spare)].sort()) sorted.add(text)
    return
  }
  const split = firstDifference(records, byte)
  if (split === RECORD_BYTES) {
    for (const text of drain(records, spare)) sorted.add(text)
    return
  }
  const groups = Array.from({ length: 256 }, () => createRecords(spare))
  for (const text of drain(records, spare)) groups[text.charCodeAt(split)]?.add(text)
  for (const group of groups) moveSorted(group, sorted, { spare, byte: split + 1 })
}

/** The first byte, from `byte` on, that is not the same in all records; `RECORD_BYTES` if none. */
function firstDifference(records: Records, byte: number): number {
  const first = records.text(0, 0, RECORD_BYTES)
  let end = RECORD_BYTES
  for (let index = 1; index < records.count && end > byte; index += 1) {
    const text = records.text(index, 0, end)
    while (end > byte && !first.startsWith(text.slice(0, end))) end -= 1
  }
  return end
}

/** Yields each record. A block whose records have been read goes to `spare`. */
function* drain(records: Records, spare: Buffer<ArrayBuffer>[]): Generator<string> {
  for (const piece of records.pieces()) {
    for (let offset = 0; offset < piece.length; offset += RECORD_BYTES) {
      yield piece.toString('latin1', offset, offset + RECORD_BYTES)
    }
    spare.push(Buffer.from(piece.buffer))
  }
}
