const magic = 0xfd2fb528

/** One zstd frame, as its header describes it. */
export interface ZstdFrame {
  readonly bytes: number
  readonly hasChecksum: boolean
  /** Whether the frame says how large its content is. */
  readonly saysSize: boolean
}

/** Walks over the frames of a zstd file without decoding them (RFC 8878, section 3). */
export function zstdFrames(file: Uint8Array): ZstdFrame[] {
  const bytes = Buffer.from(file)
  const frames: ZstdFrame[] = []
  for (let at = 0; at < bytes.length; ) {
    const frame = measureFrame(bytes.subarray(at))
    frames.push(frame)
    at += frame.bytes
  }
  return frames
}

function measureFrame(bytes: Buffer): ZstdFrame {
  if (bytes.readUInt32LE(0) !== magic) throw new Error('no zstd frame begins here')
  const descriptor = bytes.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const hasChecksum = (descriptor & 0x04) !== 0
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0
  let at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes
  for (let isLast = false; !isLast; ) {
    const header = bytes.readUIntLE(at, 3)
    isLast = (header & 1) === 1
    const isRepeatedByte = ((header >> 1) & 3) === 1
    at += 3 + (isRepeatedByte ? 1 : header >> 3)
  }
  return { bytes: at + (hasChecksum ? 4 : 0), hasChecksum, saysSize: sizeBytes > 0 }
}
