import { setImmediate } from 'node:timers/promises'
import type { ObjectStore, ObjectWriter } from '../../src/store/object-store.ts'

/** Something that runs beside others, by its own view of one store. */
export type Task<T> = (store: ObjectStore) => Promise<T>

/** Which task may make its next call, of those that wait to; gives the place of one of them. */
export type Choose = (waiting: readonly number[], step: number) => number

/**
 * Runs tasks over one store, call by call: one call at a time is let through, and `choose` says
 * whose. Returns how each ended, and how many calls there were.
 */
export async function interleave<T>(
  store: ObjectStore,
  tasks: readonly Task<T>[],
  choose: Choose,
): Promise<{ outcomes: PromiseSettledResult<T>[]; steps: number }> {
  const gates = tasks.map(() => createGate())
  const ends = tasks.map((task, at) => {
    const gate = gates[at] as Gate
    return task(gated(store, gate)).finally(() => gate.close())
  })
  const settled = Promise.allSettled(ends)
  let steps = 0
  for (;;) {
    // Every task gets as far as it can without the store before the choice is made.
    await Promise.all(gates.map((gate) => gate.settled()))
    const waiting = [...gates.keys()].filter((at) => gates[at]?.isWaiting())
    if (waiting.length === 0) return { outcomes: await settled, steps }
    await gates[choose(waiting, steps)]?.letOnePass()
    steps += 1
  }
}

interface Gate {
  pass<T>(call: () => Promise<T>): Promise<T>
  /** Resolves once a call waits or none can come any more. */
  settled(): Promise<void>
  isWaiting(): boolean
  /** Resolves once the call has its answer. */
  letOnePass(): Promise<void>
  close(): void
}

function createGate(): Gate {
  const waiting: (() => Promise<void>)[] = []
  let isClosed = false
  let arrival = Promise.withResolvers<void>()
  return {
    async pass(call) {
      const turn = Promise.withResolvers<void>()
      const end = Promise.withResolvers<void>()
      waiting.push(() => {
        turn.resolve()
        return end.promise
      })
      arrival.resolve()
      await turn.promise
      return await call().finally(end.resolve)
    },
    async settled() {
      if (waiting.length === 0 && !isClosed) await arrival.promise
    },
    isWaiting: () => waiting.length > 0,
    async letOnePass() {
      await waiting.shift()?.()
      if (waiting.length === 0 && !isClosed) arrival = Promise.withResolvers()
      await setImmediate()
    },
    close() {
      isClosed = true
      arrival.resolve()
    },
  }
}

/** A view of the store whose calls wait at the gate. */
function gated(store: ObjectStore, gate: Gate): ObjectStore {
  return {
    url: store.url,
    put: (...args) => gate.pass(() => store.put(...args)),
    async create(...args) {
      const writer = await gate.pass(() => store.create(...args))
      return gatedWriter(writer, gate)
    },
    get: (...args) => gate.pass(() => store.get(...args)),
    open: (...args) => gate.pass(() => store.open(...args)),
    async *list(...args) {
      yield* await gate.pass(() => Array.fromAsync(store.list(...args)))
    },
    remove: (...args) => gate.pass(() => store.remove(...args)),
    async *listPrefixes(...args) {
      yield* await gate.pass(() => Array.fromAsync(store.listPrefixes(...args)))
    },

    async *listUnfinished(...args) {
      yield* await gate.pass(() => Array.fromAsync(store.listUnfinished(...args)))
    },
    close: () => store.close(),
  }
}

/** What is written shows only at the commit, so that only the commit has to wait. */
function gatedWriter(writer: ObjectWriter, gate: Gate): ObjectWriter {
  return {
    write: (chunk) => writer.write(chunk),
    commit: () => gate.pass(() => writer.commit()),
    [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
  }
}
