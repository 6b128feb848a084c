import type { Transform } from 'node:stream'

/** Bytes go in here and come out, transformed, at a callback that may take its time. */
export interface TransformSink {
  /** Resolves when more may be written. Throws what the transform or the callback threw. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves once the callback has taken the last byte. */
  end(): Promise<void>
  /** Gives up; safe to call at any time. */
  destroy(): void
}

/** Drives a transform stream, or passes bytes through when there is none. */
export function createTransformSink(
  transform: Transform | undefined,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): TransformSink {
  if (transform === undefined) {
    return { write: async (chunk) => onOutput(chunk), end: async () => {}, destroy: () => {} }
  }
  const output = forward(transform, onOutput)
  // A failure shows at the write or end that waits for it; until then it is not unhandled.
  output.catch(() => {})
  // A decompressor may fail over what follows the end of its data, when nobody waits any more.
  transform.on('error', () => {})

  async function write(chunk: Uint8Array): Promise<void> {
    if (transform?.destroyed) return output
    // Waits for the chunk itself and not for `drain`: nothing may be queued when a zstd stream ends,
    // which would make Node append a frame, or drop what follows the first one.
    const taken = new Promise<void>((resolve) => {
      transform?.write(chunk, (error) => {
        if (!error) resolve()
      })
    })
    await Promise.race([taken, output])
  }

  async function end(): Promise<void> {
    if (!transform?.destroyed) transform?.end()
    await output
  }

  return { write, end, destroy: () => transform.destroy() }
}

/** Leaves the transform destroyed, so that nothing queues up behind the end of its data. */
async function forward(
  transform: Transform,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): Promise<void> {
  try {
    for await (const chunk of transform) await onOutput(chunk)
  } finally {
    transform.destroy()
  }
}
