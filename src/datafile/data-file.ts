import { createHash } from 'node:crypto'
import { createBlockWriter } from '../buffers.ts'
import { DashkeepError } from '../errors.ts'
import type { ObjectMetadata, ObjectStore } from '../store/object-store.ts'
import {
  BLOCK_BYTES,
  type BlockCompressor,
  type Compression,
  createBlockCompressor,
  createDecompressor,
} from './compression.ts'
import {
  cannotOpen,
  type FileEncryption,
  OpenError,
  type Opener,
  type Sealer,
} from './encryption.ts'
import { createTransformSink, type TransformSink } from './transform-sink.ts'

/** Size and SHA-256 (hex) of some bytes. */
export interface Fingerprint {
  readonly bytes: number
  readonly sha256: string
}

/** Description of a data file in a manifest. */
export interface DataFile {
  /** Name within the snapshot's folder. */
  readonly name: string
  readonly compression: Compression
  /** Encryption of the compressed bytes; absent when the file is not encrypted. */
  readonly encryption?: FileEncryption | undefined
  /** The bytes in the store. */
  readonly stored: Fingerprint
  /** The bytes as received from the service. */
  readonly content: Fingerprint
}

/** Writes a data file. The file is not visible in the store before `commit`. */
export interface DataFileWriter extends AsyncDisposable {
  /** Copies the next bytes of the content. Waits when the store is slower than the source. */
  write(chunk: Uint8Array): Promise<void>
  /** Ends the content. Returns the description for the manifest. */
  finish(): Promise<DataFile>
  /** Makes the file visible in the store. Call it after `finish`. */
  commit(): Promise<void>
}

/** Creates a data file. Its content is hashed, compressed, encrypted and sent to the store. */
export async function createDataFile(
  store: ObjectStore,
  key: string,
  options: {
    compression: Compression
    sealer?: Sealer | undefined
    metadata: () => ObjectMetadata
    lockFrom?: Date | undefined
    signal?: AbortSignal | undefined
  },
): Promise<DataFileWriter> {
  const { compression, sealer, metadata, lockFrom, signal } = options
  const writer = await store.create(key, { metadata, lockFrom, signal })
  const content = createFingerprint()
  const stored = createFingerprint()
  const sealing = seal(sealer, async (chunk) => {
    stored.update(chunk)
    await writer.write(chunk)
  })
  let compressor: BlockCompressor | undefined
  const blocks = createBlockWriter(BLOCK_BYTES, async (block, { last }) => {
    content.update(block)
    compressor ??= createBlockCompressor(compression, last ? block.length : undefined)
    const compressed = await compressor.compress(block, { last })
    // A copy: encryption may read its input later, when the buffer has other content.
    await sealing.write(sealer ? new Uint8Array(compressed) : compressed)
  })

  async function finish(): Promise<DataFile> {
    await blocks.end()
    compressor?.destroy()
    compressor = undefined
    await sealing.end()
    const name = key.slice(key.lastIndexOf('/') + 1)
    const encryption = sealer && { encryption: sealer.encryption }
    return { name, compression, ...encryption, stored: stored.finish(), content: content.finish() }
  }

  async function dispose(): Promise<void> {
    compressor?.destroy()
    sealing.destroy()
    await writer[Symbol.asyncDispose]()
  }

  return {
    write: (chunk) => blocks.write(chunk),
    finish,
    commit: () => writer.commit(),
    [Symbol.asyncDispose]: dispose,
  }
}

function seal(
  sealer: Sealer | undefined,
  onOutput: (chunk: Uint8Array) => Promise<void>,
): TransformSink {
  return sealer ? sealer.seal(onOutput) : createTransformSink(undefined, onOutput)
}

/** A difference between a stored file and its description. */
interface DataFileDefect {
  readonly problem: 'missing' | 'unreadable' | 'stored-bytes' | 'decoding' | 'content'
  /** The difference as text. */
  readonly detail: string
}

/**
 * Reads a stored data file to its end and compares its stored bytes with their description. Returns
 * undefined when they are equal. Throws when the store cannot answer.
 */
export async function proveStoredBytes(
  store: ObjectStore,
  key: string,
  file: DataFile,
  {
    signal,
    onStored,
  }: {
    signal?: AbortSignal | undefined
    onStored?: ((chunk: Uint8Array) => Promise<void>) | undefined
  } = {},
): Promise<DataFileDefect | undefined> {
  const body = await store.open(key, { signal })
  if (body === undefined) return { problem: 'missing', detail: 'it is not there' }
  const stored = createFingerprint()
  for await (const chunk of body) {
    stored.update(chunk)
    await onStored?.(chunk)
  }
  const difference = compareFingerprints(file.stored, stored.finish())
  return difference === undefined ? undefined : { problem: 'stored-bytes', detail: difference }
}

/**
 * Copies a stored data file to another store, under the same key. Nothing becomes visible there when
 * the source cannot return the file or its stored bytes differ from their description: then returns the
 * defect. Replaces what was there. Throws when the target cannot answer.
 */
export async function copyDataFile(
  { source, target }: { source: ObjectStore; target: ObjectStore },
  key: string,
  file: DataFile,
  options: {
    metadata: ObjectMetadata
    lockFrom?: Date | undefined
    signal?: AbortSignal | undefined
  },
): Promise<DataFileDefect | undefined> {
  const { metadata, lockFrom, signal } = options
  await using writer = await target.create(key, { metadata: () => metadata, lockFrom, signal })
  let failure: unknown
  const onStored = (chunk: Uint8Array) =>
    writer.write(chunk).catch((error) => {
      failure = error
      throw error
    })
  const defect = await proveReadable(source, key, file, { signal, onStored })
  if (failure !== undefined) throw failure
  if (defect === undefined) await writer.commit()
  return defect
}

/** The same as `proveStoredBytes`, but returns a defect when the store cannot return the file. */
export async function proveReadable(
  ...args: Parameters<typeof proveStoredBytes>
): Promise<DataFileDefect | undefined> {
  try {
    return await proveStoredBytes(...args)
  } catch (error) {
    return { problem: 'unreadable', detail: explainUnreadable(error, args[3]?.signal) }
  }
}

/**
 * Reads a stored data file to its end and compares it with its description. Returns undefined when it
 * is sound.
 *
 * `onContent` gets the decompressed bytes up to the described length, before they are proven. It is
 * awaited and must not throw. Without an `opener`, only the stored bytes of an encrypted file are
 * proven. A file whose described size exceeds `maxContentBytes` is not read. Throws when the store
 * cannot answer, and an `OpenError` when the file is sound but the key does not open it.
 */
export async function proveDataFile(
  store: ObjectStore,
  key: string,
  file: DataFile,
  options: {
    opener?: Opener | undefined
    signal?: AbortSignal | undefined
    onContent?: (chunk: Uint8Array) => unknown
    maxContentBytes?: number | undefined
  } = {},
): Promise<DataFileDefect | undefined> {
  const { maxContentBytes = Number.POSITIVE_INFINITY } = options
  if (file.content.bytes > maxContentBytes) return tooLarge(file, maxContentBytes)
  using decoder = canOpen(file, options.opener) ? createDecoder(file, options) : undefined
  const defect = await proveStoredBytes(store, key, file, {
    signal: options.signal,
    onStored: decoder?.write,
  })
  if (defect !== undefined) return defect
  const decoded = await decoder?.end()
  if (decoded instanceof OpenError) throw cannotOpen(key, options.opener)
  return decoded
}

/**
 * Describes why the store could not return a file. For callers that can continue without the file: a
 * bad sector of a disk must not fail every later run. Throws interruptions and unexpected errors.
 */
export function explainUnreadable(error: unknown, signal: AbortSignal | undefined): string {
  signal?.throwIfAborted()
  if (error instanceof DashkeepError) return error.message
  throw error
}

/** Whether the file is not encrypted, or there is an opener for it. */
export function canOpen(file: DataFile, opener: Opener | undefined): boolean {
  return file.encryption === undefined || opener !== undefined
}

function tooLarge({ content }: DataFile, maxContentBytes: number): DataFileDefect {
  return {
    problem: 'content',
    detail: `it expands to ${content.bytes} bytes, more than limits.maxExportBytes allows (${maxContentBytes})`,
  }
}

/** Decrypts and decompresses. Reports a failure only at the end. */
function createDecoder(
  file: DataFile,
  {
    opener,
    onContent,
  }: { opener?: Opener | undefined; onContent?: ((chunk: Uint8Array) => void) | undefined },
) {
  const content = createFingerprint()
  let failure: unknown
  const sink = createDecompressor(file.compression, file.content.bytes, async (chunk) => {
    content.update(chunk)
    if (content.bytes() > file.content.bytes) throw new Error('more content than described')
    await onContent?.(chunk)
  })
  const opening =
    file.encryption && opener
      ? opener.open((chunk) => sink.write(chunk))
      : createTransformSink(undefined, (chunk) => sink.write(chunk))

  async function attempt(step: () => Promise<void>): Promise<void> {
    if (failure !== undefined) return
    try {
      await step()
    } catch (error) {
      failure = error
      release()
    }
  }

  function release(): void {
    opening.destroy()
    sink.destroy()
  }

  return {
    [Symbol.dispose]: release,
    write: (chunk: Uint8Array) => attempt(() => opening.write(chunk)),
    async end(): Promise<DataFileDefect | OpenError | undefined> {
      await attempt(() => opening.end())
      await attempt(() => sink.end())
      if (failure instanceof OpenError) return failure
      if (failure !== undefined) {
        const reason = failure instanceof Error ? failure.message : String(failure)
        return { problem: 'decoding', detail: `it cannot be decoded (${reason})` }
      }
      const difference = compareFingerprints(file.content, content.finish())
      if (difference === undefined) return undefined
      return { problem: 'content', detail: `once decoded, ${difference}` }
    },
  }
}

function compareFingerprints(expected: Fingerprint, found: Fingerprint): string | undefined {
  if (found.bytes !== expected.bytes) {
    return `it has ${found.bytes} bytes instead of ${expected.bytes}`
  }
  if (found.sha256 !== expected.sha256) {
    return `its SHA-256 is ${found.sha256} instead of ${expected.sha256}`
  }
  return undefined
}

function createFingerprint() {
  const hash = createHash('sha256')
  let bytes = 0
  return {
    update(chunk: Uint8Array): void {
      hash.update(chunk)
      bytes += chunk.length
    },
    bytes: () => bytes,
    finish: (): Fingerprint => ({ bytes, sha256: hash.digest('hex') }),
  }
}
