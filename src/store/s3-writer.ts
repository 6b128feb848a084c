import { withRoomFor } from '../buffers.ts'
import { guardWriter, type WriterSteps } from './guarded-writer.ts'
import type { ObjectMetadata, ObjectWriter } from './object-store.ts'
import type { S3Connection } from './s3-connection.ts'
import { beginUpload, type MultipartUpload, putObject } from './s3-upload.ts'

/** The size of every part but the last. S3 asks for at least 5 MiB. */
export const partBytes = 8 * 1024 * 1024

const firstBufferBytes = 64 * 1024

/**
 * Gathers what is written in a growing buffer. What stays below one part is stored in one request;
 * more becomes an upload in parts, with two buffers taking turns: one is filled while the other is
 * on its way, so a writer never holds more than two parts.
 */
export function createS3Writer(
  connection: S3Connection,
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
  let filling: Buffer = Buffer.allocUnsafeSlow(firstBufferBytes)
  let filled = 0
  let other: Buffer | undefined
  let upload: MultipartUpload | undefined
  let onItsWay: Promise<void> = Promise.resolve()

  async function sendFilled(): Promise<void> {
    await onItsWay
    upload ??= await beginUpload(connection, target, metadata())
    onItsWay = upload.uploadPart(filling.subarray(0, filled))
    onItsWay.catch(() => undefined) // seen by whoever awaits it next
  }

  function swapBuffers(): void {
    const free = other ?? Buffer.allocUnsafeSlow(partBytes)
    other = filling
    filling = free
    filled = 0
  }

  const steps: WriterSteps = {
    async write(chunk) {
      for (let taken = 0; taken < chunk.length; ) {
        if (filled === partBytes) {
          await sendFilled()
          swapBuffers()
        }
        const piece = chunk.subarray(taken, taken + partBytes - filled)
        const needed = filled + piece.length
        filling = withRoomFor(filling, { filled, needed, maxBytes: partBytes })
        filling.set(piece, filled)
        filled += piece.length
        taken += piece.length
      }
    },
    async commit() {
      if (upload === undefined) {
        await putObject(connection, target, filling.subarray(0, filled), metadata())
        return
      }
      await sendFilled()
      await onItsWay
      await upload.complete()
    },
    async discard() {
      discarded.abort()
      await onItsWay.catch(() => undefined)
      await upload?.abort()
    },
  }
  return guardWriter(steps, signal)
}
