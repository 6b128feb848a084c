import type { Transform } from 'node:stream'

/** Takes bytes and passes them, transformed, to a callback, for which it waits. */
export interface TransformSink {
  /** Resolves when more can be written. Throws the errors of the transform and the callback. */
  write(chunk: Uint8Array): Promise<void>
  /** Resolves when the callback has received the last byte. */
  end(): Promise<void>
  /** Stops the transform. Can be called at any time. */
  destroy(): void
}

/** Makes a sink from a transform stream. Without one, bytes pass unchanged. */
export function createTransformSink(
  transform: Transform | undefined,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): TransformSink {
  if (transform === undefined) {
    return { write: async (chunk) => onOutput(chunk), end: async () => {}, destroy: () => {} }
  }
  const output = forward(transform, onOutput)
  // The next write or end throws the failure. Without a handler, Node would end the process.
  output.catch(() => {})
  // A decompressor may fail because of bytes after its data, when nothing waits for it any more.
  transform.on('error', () => {})

  async function write(chunk: Uint8Array): Promise<void> {
    if (transform?.destroyed) return output
    // Waits for the chunk and not for `drain`. With queued chunks at its end, a zstd stream would append
    // a frame or drop everything after the first one.
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

/** Passes the output on. Destroys the transform at the end, so that no bytes queue after its data. */
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
