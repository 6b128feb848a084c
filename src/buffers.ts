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
