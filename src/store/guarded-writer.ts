import type { ObjectWriter } from './object-store.ts'

/** What a store does for a writer. `guardWriter` decides when and how often. */
export interface WriterSteps {
  write(chunk: Uint8Array): Promise<void>
  commit(): Promise<void>
  /** Removes what was written so far. */
  discard(): Promise<void>
}

/**
 * Makes a writer that keeps the rules of the port: after a failed step or a commit it takes nothing
 * more, steps never overlap, an aborted signal stops it, and it is discarded unless committed.
 */
export function guardWriter(steps: WriterSteps, signal: AbortSignal | undefined): ObjectWriter {
  let state: 'ready' | 'busy' | 'committed' | 'discarded' = 'ready'

  async function run(step: () => Promise<void>): Promise<void> {
    if (state === 'committed' || state === 'discarded') throw new Error(`The writer is ${state}`)
    if (state === 'busy') throw new Error('The writer is busy, or has failed')
    signal?.throwIfAborted()
    state = 'busy'
    await step()
  }

  return {
    async write(chunk) {
      await run(() => steps.write(chunk))
      state = 'ready'
    },
    async commit() {
      await run(() => steps.commit())
      state = 'committed'
    },
    async [Symbol.asyncDispose]() {
      if (state === 'committed' || state === 'discarded') return
      state = 'discarded'
      await steps.discard()
    },
  }
}
