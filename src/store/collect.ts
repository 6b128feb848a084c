/** Reads a whole body into memory. The caller limits its size. */
export async function collectBytes(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = []
  for await (const piece of pieces) collected.push(Uint8Array.from(piece))
  return Buffer.concat(collected)
}
