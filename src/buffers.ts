/** Gathers bytes into blocks of one size. The last block is the rest. */
export interface BlockWriter {
  /** Copies the bytes, and waits while both buffers are taken. Throws what sending has thrown. */
  write(chunk: Uint8Array): Promise<void>
  /** Sends the rest, which may be empty, as the last block. Returns once all blocks are sent. */
  end(): Promise<void>
  /** Returns when no block is being sent any more. */
  settle(): Promise<void>
}

/**
 * Uses two buffers: one is filled while the other is sent, so at most two blocks are in memory. `send` is called for one block after the other and may look at it until its
 * promise is settled.
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
    onItsWay.catch(() => {}) // seen by whoever awaits it next
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
 * A buffer with room for so many bytes: the one given, or one at least twice as large with the same
 * content. Never larger than `maxBytes`, which the caller does not exceed.
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
