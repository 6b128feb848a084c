import { once } from 'node:events'
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

  async function write(chunk: Uint8Array): Promise<void> {
    if (transform?.destroyed) return output
    if (transform?.write(chunk) === false) await Promise.race([once(transform, 'drain'), output])
  }

  async function end(): Promise<void> {
    // Node appends an empty frame when a stream is ended before it has drained.
    if (transform?.writableNeedDrain) await Promise.race([once(transform, 'drain'), output])
    transform?.end()
    await output
  }

  return { write, end, destroy: () => transform.destroy() }
}

async function forward(
  transform: Transform,
  onOutput: (chunk: Uint8Array) => Promise<void> | void,
): Promise<void> {
  for await (const chunk of transform) await onOutput(chunk)
}
