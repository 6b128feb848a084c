import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { withRoomFor } from '../buffers.ts'
import { DashkeepError } from '../errors.ts'
import { createTransformSink, type TransformSink } from './transform-sink.ts'

/** How a data file is compressed; also its name's last part (`none`: no further part). */
export type Compression = 'zstd' | 'gzip' | 'none'

const extensions: Record<Compression, string> = { zstd: '.zst', gzip: '.gz', none: '' }

/** Content is compressed in blocks of so many bytes, the last being what remains. */
export const BLOCK_BYTES = 2 * 1024 * 1024

/** Most bytes a stream hands on at once: each time costs a turn of the event loop. */
const MAX_CHUNK_BYTES = 128 * 1024
/** A stream takes this much room even for an empty file. */
const MIN_CHUNK_BYTES = 4 * 1024

/**
 * The largest window (its binary logarithm) of a zstd frame: 8 MiB, which RFC 8878 recommends as the
 * limit of decoders. A frame could ask for 128 MiB of memory otherwise; dashkeep's ask for 4 at most.
 */
const MAX_WINDOW_LOG = 23

/** The data file's name for one type of objects, such as `dashboard.json.zst.age`. */
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
   * Returns what stands for the block in the file, valid until the next call. The first blocks and
   * the last are decompressed again: throws unless the very same bytes come back.
   */
  compress(block: Uint8Array, options: { last: boolean }): Promise<Uint8Array>
  /** Frees what the file has needed, finished or given up; safe to call at any time. */
  destroy(): void
}

/** So many blocks of a file are proven besides its last: all of it up to 16 MiB. */
const PROVEN_BLOCKS = 8

/**
 * Begins a file: hard when its content is small, as almost all exports are, and fast when it is
 * large. `smallBytes` is the size of small content, undefined for large.
 *
 * Every block becomes a zstd frame with checksum, or a gzip member. A stream in one frame would take
 * a fifth more time, since the window of a streaming compressor lies in two places.
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
 * One stream for all frames, and one buffer for what comes out of it: new ones for each block would
 * make V8 collect its whole heap again and again. The stream is never ended, which would append an
 * empty frame. It is never given workers either: Node's zlib loses data with `nbWorkers`.
 */
function createZstdEncoder(smallBytes: number | undefined): BlockEncoder {
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag, ZSTD_e_end } = zlib.constants
  const params = { [ZSTD_c_compressionLevel]: zstdLevel(smallBytes), [ZSTD_c_checksumFlag]: 1 }
  const chunkSize = chunkBytes(smallBytes)
  // A high level prepares for 8 MB unless it is told: 40 ms instead of 2 for an export of 1 kB.
  const stream = zlib.createZstdCompress({ params, pledgedSrcSize: smallBytes, chunkSize })
  let output: Buffer = Buffer.allocUnsafeSlow(chunkSize)
  let filled = 0
  stream.on('data', (chunk: Uint8Array) => {
    output = withRoomFor(output, { filled, needed: filled + chunk.length })
    output.set(chunk, filled)
    filled += chunk.length
  })
  // A failure shows at the step that waits for it.
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
      // What the listener has not been given yet.
      while (stream.read() !== null);
      return output.subarray(0, filled)
    },
    destroy: () => stream.destroy(),
  }
}

/** Throws unless a compressed block decompresses to what it was. */
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
    hint: "the machine's memory or processor may be failing: try another one",
  })
}

/**
 * As hard as some 5 ms allow, which is little beside starting a process. The highest levels would
 * take twenty times that for 5 % fewer bytes (real exports of 32 to 512 kB).
 */
function zstdLevel(smallBytes: number | undefined): number {
  if (smallBytes === undefined) return 3
  if (smallBytes <= 64 * 1024) return 15
  return smallBytes <= 512 * 1024 ? 10 : 8
}

/** Undoes the compression of content of that size, whoever compressed it. */
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

/** Node's stream ends with the first frame, and says so by taking no more: another goes on there. */
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
