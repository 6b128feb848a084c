import type { StoredHits } from '../state/stored-hits.ts'
import { permutation } from './random.ts'

/** The hits of one account and type, from any source. */
export interface HitSource {
  readonly count: number
  /** Total bytes of all hits. */
  readonly bytes: number
  size(index: number): number
  /** Writes one hit into `target`, which has room for `size(index)` bytes. */
  write(index: number, target: Buffer, at: number): void
}

/** The body of an export: its chunks and its total length in bytes. */
export interface ExportBody {
  readonly chunks: Iterable<Uint8Array>
  readonly length: number
}

const CHUNK_BYTES = 256 * 1024

/** Hits in memory. */
export function heldHits(hits: readonly Uint8Array[]): HitSource {
  return {
    count: hits.length,
    bytes: hits.reduce((sum, hit) => sum + hit.length, 0),
    size: (index) => (hits[index] as Uint8Array).length,
    write: (index, target, at) => target.set(hits[index] as Uint8Array, at),
  }
}

/** Writes the export document of hits (specification, "Export result"), chunk by chunk. */
export function exportDocument(
  source: HitSource,
  options: {
    kibanaVersion: string
    kibanaVersionLast: boolean
    /** Seed of the order, and the number of the export, so that each export has another order. */
    order?: { seed: number; turn: number } | undefined
  },
): ExportBody {
  const { head, tail } = envelopeOf(options)
  const commas = Math.max(0, source.count - 1)
  const { order } = options
  const place = order ? permutation(source.count, order.seed, order.turn) : (at: number) => at
  return {
    chunks: documentChunks(source, { head, tail, place }),
    length: head.length + source.bytes + commas + tail.length,
  }
}

/** Writes the export document of stored hits, without holding all of them in memory. */
export function storedDocument(
  hits: StoredHits,
  options: { kibanaVersion: string; kibanaVersionLast: boolean },
): ExportBody {
  const { head, tail } = envelopeOf(options)
  return {
    chunks: storedChunks(hits, { head, tail }),
    // Lazy: the database reads all hits to calculate it.
    get length() {
      const { count, bytes } = hits.sizes()
      return head.length + bytes + Math.max(0, count - 1) + tail.length
    },
  }
}

function* storedChunks(
  hits: StoredHits,
  { head, tail }: { head: Uint8Array; tail: Uint8Array },
): Generator<Uint8Array> {
  yield head
  let isFirst = true
  for (const piece of hits.pieces()) {
    const parts = piece.flatMap((hit) => [comma, hit])
    yield Buffer.concat(isFirst ? parts.slice(1) : parts)
    isFirst = false
  }
  yield tail
}

const comma = Buffer.from(',')

/** The text before and after the hits of an export document. */
function envelopeOf(options: { kibanaVersion: string; kibanaVersionLast: boolean }) {
  const version = `"kibanaVersion":${JSON.stringify(options.kibanaVersion)}`
  return {
    head: Buffer.from(options.kibanaVersionLast ? '{"hits":[' : `{${version},"hits":[`),
    tail: Buffer.from(options.kibanaVersionLast ? `],${version}}` : ']}'),
  }
}

/** Splits bytes in memory into chunks. */
export function heldDocument(document: Uint8Array): ExportBody {
  return { chunks: slices(document), length: document.length }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    yield bytes.subarray(at, at + CHUNK_BYTES)
  }
}

function* documentChunks(
  source: HitSource,
  parts: { head: Uint8Array; tail: Uint8Array; place: (at: number) => number },
): Generator<Uint8Array> {
  yield parts.head
  let chunk = Buffer.allocUnsafeSlow(chunkSize(source, parts.place(0)))
  let filled = 0
  for (let at = 0; at < source.count; at += 1) {
    const index = parts.place(at)
    const size = source.size(index)
    if (filled + size + 1 > chunk.length) {
      yield chunk.subarray(0, filled)
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size + 1))
      filled = 0
    }
    if (at > 0) {
      chunk[filled] = 0x2c
      filled += 1
    }
    source.write(index, chunk, filled)
    filled += size
  }
  if (filled > 0) yield chunk.subarray(0, filled)
  yield parts.tail
}

/** A buffer for the first hit, not larger than all hits need. */
function chunkSize(source: HitSource, first: number): number {
  if (source.count === 0) return 0
  return Math.max(Math.min(CHUNK_BYTES, source.bytes + source.count), source.size(first) + 1)
}
