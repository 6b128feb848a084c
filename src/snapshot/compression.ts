import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

/** How a data file is compressed; also its name's last part (`none`: no further part). */
export type Compression = 'zstd' | 'gzip' | 'none'

const extensions: Record<Compression, string> = { zstd: '.zst', gzip: '.gz', none: '' }

/** Most bytes a stream hands on at once: each time costs a turn of the event loop. */
const MAX_CHUNK_BYTES = 128 * 1024
/** A stream takes this much room even for an empty file. */
const MIN_CHUNK_BYTES = 4 * 1024

/** The data file's name for one type of objects, such as `dashboard.json.zst.age`. */
export function dataFileName(
  type: string,
  compression: Compression,
  { encrypted }: { encrypted: boolean },
): string {
  return `${type}.json${extensions[compression]}${encrypted ? '.age' : ''}`
}

/**
 * A stream that compresses one file into one frame: hard when the content is small, as almost all
 * exports are, and fast when it is large. Undefined for `none`.
 *
 * `smallBytes` is the size of small content, undefined for large. zstd is told, since a high level
 * prepares for 8 MB otherwise: 40 ms instead of 2 for an export of 1 kB.
 * zstd carries its checksum and is never given workers: Node's zlib loses data with `nbWorkers`.
 */
export function createCompressor(
  compression: Compression,
  smallBytes: number | undefined,
): Transform | undefined {
  const small = smallBytes !== undefined
  const chunkSize = chunkBytes(smallBytes ?? MAX_CHUNK_BYTES)
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag } = zlib.constants
  if (compression === 'zstd') {
    const params = { [ZSTD_c_compressionLevel]: zstdLevel(smallBytes), [ZSTD_c_checksumFlag]: 1 }
    const pledgedSrcSize = smallBytes
    return zlib.createZstdCompress({ params, pledgedSrcSize, chunkSize })
  }
  if (compression === 'gzip') return zlib.createGzip({ level: small ? 9 : 6, chunkSize })
  return undefined
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

/** The stream that undoes `createCompressor`, for content of that size. Undefined for `none`. */
export function createDecompressor(
  compression: Compression,
  contentBytes: number,
): Transform | undefined {
  const chunkSize = chunkBytes(contentBytes)
  if (compression === 'zstd') return zlib.createZstdDecompress({ chunkSize })
  if (compression === 'gzip') return zlib.createGunzip({ chunkSize })
  return undefined
}

function chunkBytes(bytes: number): number {
  return Math.min(Math.max(bytes, MIN_CHUNK_BYTES), MAX_CHUNK_BYTES)
}
