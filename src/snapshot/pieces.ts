/** A piece is worth the way to another thread and back; smaller ones spend their time on the way. */
const PIECE_BYTES = 256 * 1024

/** Gathers what arrives in chunks of any size into pieces of at least one; the last may be smaller. */
export async function* inPieces(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let gathered: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    gathered.push(chunk)
    bytes += chunk.length
    if (bytes < PIECE_BYTES) continue
    yield joined(gathered)
    gathered = []
    bytes = 0
  }
  if (bytes > 0) yield joined(gathered)
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks
  return chunks.length === 1 && only ? only : Buffer.concat(chunks)
}
