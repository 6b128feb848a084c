// Tested by test/datafile/data-file.test.ts

/** Collects bytes into blocks of one size. The last block can be smaller. */
interface BlockWriter {
  /** Copies the bytes. Waits while both buffers are in use. Throws the errors of `send`. */
  write(chunk: Uint8Array): Promise<void>
  /** Sends the remaining bytes, possibly none, as the last block. Returns when all blocks are sent. */
  end(): Promise<void>
  /** Returns when no block is being sent. */
  settle(): Promise<void>
}

/**
 * Uses two buffers: one is filled while the other is sent, so at most two blocks are in memory. `send`
 * is called for one block after the other. It may read the block until its promise is settled.
 */
export function createBlockWriter(
  blockBytes: number,
  send: (block: Buffer, options: { last: boolean }) => Promise<void>,
): BlockWriter {
  let filling: Buffer = Buffer.alloc(0)
  let filled = 0
  let other: Buffer | undefined
  let onItsWay = Promise.resolve()

  async function sendFilled(last: boolean): Promise<void> {
    await onItsWay
    onItsWay = send(filling.subarray(0, filled), { last })
    onItsWay.catch(() => {}) // the next call that awaits it throws the error
  }

  function swapBuffers(): void {
    const free = other ?? Buffer.allocUnsafeSlow(blockBytes)
    other = filling
    filling = free
    filled = 0
  }

  return {
    async write(chunk) {
      for (let taken = 0; taken < chunk.length; ) {
        if (filled === blockBytes) {
          await sendFilled(false)
          swapBuffers()
        }
        const piece = chunk.subarray(taken, taken + blockBytes - filled)
        const needed = filled + piece.length
        filling = withRoomFor(filling, { filled, needed, maxBytes: blockBytes })
        filling.set(piece, filled)
        filled += piece.length
        taken += piece.length
      }
    },
    async end() {
      await sendFilled(true)
      await onItsWay
      filling = Buffer.alloc(0)
      other = undefined
    },
    async settle() {
      await onItsWay.catch(() => {})
    },
  }
}

/**
 * Returns a buffer with room for `needed` bytes: the given one, or one at least twice as large with the
 * same content, but not larger than `maxBytes`. Expects `needed` to be at most `maxBytes`.
 */
export function withRoomFor(
  buffer: Buffer,
  { filled, needed, maxBytes }: { filled: number; needed: number; maxBytes?: number },
): Buffer {
  if (needed <= buffer.length) return buffer
  const bytes = Math.max(2 * buffer.length, needed)
  const larger = Buffer.allocUnsafeSlow(Math.min(bytes, maxBytes ?? bytes))
  larger.set(buffer.subarray(0, filled))
  return larger
}
