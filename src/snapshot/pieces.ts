/** A piece is worth the way to another thread and back; smaller ones spend their time on the way. */
const PIECE_BYTES = 256 * 1024

/** The first is smaller, since most exports are. */
const FIRST_PIECE_BYTES = 64 * 1024

/**
 * Gathers what arrives in chunks of any size into pieces of one. Two buffers take turns, so a piece
 * is valid until the one after the next is asked for.
 */
export async function* inPieces(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let filling: Buffer = Buffer.allocUnsafeSlow(FIRST_PIECE_BYTES)
  let free: Buffer | undefined
  let filled = 0
  for await (const chunk of body) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + filling.length - filled)
      filling.set(part, filled)
      filled += part.length
      taken += part.length
      if (filled < filling.length) continue
      yield filling
      const next = free ?? Buffer.allocUnsafeSlow(PIECE_BYTES)
      free = filling.length === PIECE_BYTES ? filling : undefined
      filling = next
      filled = 0
    }
  }
  if (filled > 0) yield filling.subarray(0, filled)
}
