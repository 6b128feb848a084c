import { createBlockWriter } from '../../buffers.ts'
import { guardWriter, type WriterSteps } from '../guarded-writer.ts'
import type { ObjectMetadata, ObjectWriter } from '../object-store.ts'
import type { Connection } from './connection.ts'
import { beginUpload, type MultipartUpload, putObject } from './upload.ts'

/** Size of every part except the last. S3 requires at least 5 MiB. */
export const partBytes = 8 * 1024 * 1024

/**
 * Creates a writer. Stores an object of up to one part with one request, and a larger one as a multipart
 * upload. Holds at most two parts in memory.
 */
export function createWriter(
  connection: Connection,
  key: string,
  options: {
    signal: AbortSignal | undefined
    metadata: () => ObjectMetadata
    lockFrom: Date | undefined
  },
): ObjectWriter {
  const { signal, metadata, lockFrom } = options
  const discarded = new AbortController()
  const target = {
    key,
    signal: signal ? AbortSignal.any([signal, discarded.signal]) : discarded.signal,
    lockFrom,
  }
  let upload: MultipartUpload | undefined
  const parts = createBlockWriter(partBytes, async (part, { last }) => {
    if (last && upload === undefined) return putObject(connection, target, part, metadata())
    upload ??= await beginUpload(connection, target, metadata())
    await upload.uploadPart(part)
  })

  const steps: WriterSteps = {
    write: (chunk) => parts.write(chunk),
    async commit() {
      await parts.end()
      await upload?.complete()
    },
    async discard() {
      discarded.abort()
      await parts.settle()
      await upload?.abort()
    },
  }
  return guardWriter(steps, signal)
}
