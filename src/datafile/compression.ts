import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { withRoomFor } from '../buffers.ts'
import { DashkeepError } from '../errors.ts'
import { createTransformSink, type TransformSink } from './transform-sink.ts'

/** Compression of a data file. */
export type Compression = 'zstd' | 'gzip' | 'none'

const extensions: Record<Compression, string> = { zstd: '.zst', gzip: '.gz', none: '' }

/** Size of the blocks in which content is compressed. The last block can be smaller. */
export const BLOCK_BYTES = 2 * 1024 * 1024

/** Largest chunk of a stream's output. Each chunk costs a turn of the event loop. */
const MAX_CHUNK_BYTES = 128 * 1024
/** Smallest chunk size, also for an empty file. */
const MIN_CHUNK_BYTES = 4 * 1024

/**
 * Largest window of a zstd frame, as a binary logarithm: 8 MiB, the limit that RFC 8878 recommends to
 * decoders. Without a limit, a frame can require 128 MiB of memory. dashkeep's frames need at most 4.
 */
const MAX_WINDOW_LOG = 23

/** The name of the data file of a type, such as `dashboard.json.zst.age`. */
export function dataFileName(
  type: string,
  compression: Compression,
  { encrypted }: { encrypted: boolean },
): string {
  return `${type}.json${extensions[compression]}${encrypted ? '.age' : ''}`
}

/** Compresses one file block by block, on another thread. */
export interface BlockCompressor {
  /**
   * Returns the compressed block, valid until the next call. Decompresses the first 8 blocks and the
   * last one again, and throws when the bytes differ.
   */
  compress(block: Uint8Array, options: { last: boolean }): Promise<Uint8Array>
  /** Frees the memory. Can be called at any time. */
  destroy(): void
}

/** Blocks before the last one that are decompressed again: 16 MiB of a file. */
const PROVEN_BLOCKS = 8

/**
 * Creates the compressor of a file. Small content, such as most exports, gets a high level, large
 * content a fast one. `smallBytes` is the size of small content; undefined for large content.
 *
 * Every block becomes a zstd frame with a checksum, or a gzip member. A single frame for all blocks
 * would take a fifth more time, because zstd then copies its window.
 */
export function createBlockCompressor(
  compression: Compression,
  smallBytes: number | undefined,
): BlockCompressor {
  if (compression === 'none') return { compress: async (block) => block, destroy: () => {} }
  const encoder =
    compression === 'zstd' ? createZstdEncoder(smallBytes) : createGzipEncoder(smallBytes)
  let blocks = 0
  return {
    async compress(block, { last }) {
      const compressed = await encoder.encode(block)
      if (blocks < PROVEN_BLOCKS || last) await proveBlock(compression, block, compressed)
      blocks += 1
      return compressed
    },
    destroy: () => encoder.destroy(),
  }
}

interface BlockEncoder {
  encode(block: Uint8Array): Promise<Uint8Array>
  destroy(): void
}

function createGzipEncoder(smallBytes: number | undefined): BlockEncoder {
  const options = { level: smallBytes === undefined ? 6 : 9, chunkSize: chunkBytes(smallBytes) }
  const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip)
  return { encode: (block) => gzip(block, options), destroy: () => {} }
}

/**
 * Uses one stream for all frames and one buffer for its output. New ones for each block would cause
 * many garbage collections. The stream is never ended, because that would append an empty frame. It
 * never uses workers, because Node's zlib loses data with `nbWorkers`.
 */
function createZstdEncoder(smallBytes: number | undefined): BlockEncoder {
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag, ZSTD_e_end } = zlib.constants
  const params = { [ZSTD_c_compressionLevel]: zstdLevel(smallBytes), [ZSTD_c_checksumFlag]: 1 }
  const chunkSize = chunkBytes(smallBytes)
  // Without the size, a high level prepares for 8 MB: 40 ms instead of 2 ms for an export of 1 kB.
  const stream = zlib.createZstdCompress({ params, pledgedSrcSize: smallBytes, chunkSize })
  let output: Buffer = Buffer.allocUnsafeSlow(chunkSize)
  let filled = 0
  stream.on('data', (chunk: Uint8Array) => {
    output = withRoomFor(output, { filled, needed: filled + chunk.length })
    output.set(chunk, filled)
    filled += chunk.length
  })
  // The callback of the current step reports the failure.
  stream.on('error', () => {})
  const step = (take: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => {
      take((error) => (error ? reject(error) : resolve()))
    })

  return {
    async encode(block) {
      filled = 0
      if (block.length > 0) await step((done) => stream.write(block, done))
      await step((done) => stream.flush(ZSTD_e_end, done))
      // Passes the rest of the output to the listener.
      while (stream.read() !== null);
      return output.subarray(0, filled)
    },
    destroy: () => stream.destroy(),
  }
}

/** Throws unless a compressed block decompresses to the same bytes. */
async function proveBlock(
  compression: 'zstd' | 'gzip',
  block: Uint8Array,
  compressed: Uint8Array,
): Promise<void> {
  const decompress = promisify<Uint8Array, Buffer>(
    compression === 'zstd' ? zlib.zstdDecompress : zlib.gunzip,
  )
  const decompressed = await decompress(compressed).catch(() => undefined)
  if (decompressed?.equals(block)) return
  const found = decompressed ? 'other bytes come back' : 'it does not decompress'
  throw new DashkeepError(`Cannot trust the compression of ${block.length} bytes: ${found}`, {
    hint: "the machine's memory or processor may be failing: use another machine",
  })
}

/**
 * The highest level that takes about 5 ms for half a megabyte. The highest levels of all take twenty times
 * as long and save only 5 % of the bytes (measured with real exports of 32 to 512 kB).
 */
function zstdLevel(smallBytes: number | undefined): number {
  if (smallBytes === undefined) return 3
  if (smallBytes <= 64 * 1024) return 15
  return smallBytes <= 256 * 1024 ? 10 : 7
}

/** Decompresses content of a known size. Accepts any number of frames or members. */
export function createDecompressor(
  compression: Compression,
  contentBytes: number,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): TransformSink {
  const chunkSize = chunkBytes(contentBytes)
  if (compression === 'zstd') return createZstdDecompressor(chunkSize, onOutput)
  const transform = compression === 'gzip' ? zlib.createGunzip({ chunkSize }) : undefined
  return createTransformSink(transform, onOutput)
}

/** Node's stream stops reading after its first frame, so each frame gets a new stream. */
function createZstdDecompressor(
  chunkSize: number,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): TransformSink {
  const params = { [zlib.constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG }
  const begin = () => {
    const stream = zlib.createZstdDecompress({ chunkSize, params })
    return { stream, sink: createTransformSink(stream, onOutput) }
  }
  let frame = begin()

  async function write(chunk: Uint8Array): Promise<void> {
    for (let rest = chunk; ; frame = begin()) {
      const before = frame.stream.bytesWritten
      await frame.sink.write(rest)
      rest = rest.subarray(frame.stream.bytesWritten - before)
      if (rest.length === 0) return
    }
  }

  return { write, end: () => frame.sink.end(), destroy: () => frame.sink.destroy() }
}

function chunkBytes(bytes = MAX_CHUNK_BYTES): number {
  return Math.min(Math.max(bytes, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES)
}
