import type { ObjectWriter } from './object-store.ts'

/** The steps of a writer. `guardWriter` decides when they run. */
export interface WriterSteps {
  write(chunk: Uint8Array): Promise<void>
  commit(): Promise<void>
  /** Removes what was written so far. */
  discard(): Promise<void>
}

/**
 * Makes a writer that follows the rules of `ObjectWriter`: it accepts nothing after a failed step or a
 * commit, its steps never overlap, an aborted signal stops it, and disposing discards it unless it is
 * committed.
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
