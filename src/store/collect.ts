/** Joins the pieces of a body in memory. The caller makes sure that it is small. */
export async function collectBytes(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const collected: Uint8Array[] = []
  for await (const piece of pieces) collected.push(Uint8Array.from(piece))
  return Buffer.concat(collected)
}
