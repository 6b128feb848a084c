import { StoreError } from '../../src/store/errors.ts'
import type { ObjectStore, ObjectWriter } from '../../src/store/object-store.ts'

/** What a store can do wrong. A call that cannot go wrong in this way is left alone. */
export const storeFaults = [
  'refuses',
  'loses the answer',
  'hangs until it is interrupted',
  'keeps nothing and says it did',
  'flips a bit of what is written',
  'flips a bit of what is read',
  'cuts what is read',
] as const
export type StoreFault = (typeof storeFaults)[number]

export interface Strike {
  readonly kind: StoreFault
  /** The call that is struck, from 0. */
  readonly at: number
  /** Whether every later call is struck, too. */
  readonly lasting: boolean
}

export interface FaultyStore extends ObjectStore {
  /** Calls so far, those of writers included. */
  calls(): number
  /** Calls that went wrong. */
  struck(): number
  /** Aborts when a call hangs, as whoever waits would sooner or later. */
  readonly impatience: AbortSignal
}

/** A store in front of another one, whose calls go wrong where `strike` says. */
export function createFaultyStore(store: ObjectStore, strike?: Strike): FaultyStore {
  const impatience = new AbortController()
  let calls = 0
  let struck = 0

  /** Makes one call of the store, or what the fault makes of it. */
  async function call<T>(
    act: () => Promise<T>,
    lies: Partial<Record<StoreFault, () => Promise<T>>> = {},
  ): Promise<T> {
    const place = calls
    calls += 1
    const hits = strike && (place === strike.at || (place > strike.at && strike.lasting))
    const wrong = hits && (lies[strike.kind] ?? failures(act)[strike.kind])
    if (!wrong) return act()
    struck += 1
    return wrong()
  }

  function failures<T>(act: () => Promise<T>): Partial<Record<StoreFault, () => Promise<never>>> {
    const refuse = async () => {
      throw new StoreError('Cannot go on: the store refuses')
    }
    return {
      refuses: refuse,
      'loses the answer': () => act().then(refuse),
      async 'hangs until it is interrupted'() {
        impatience.abort(new StoreError('Cannot wait any longer', { kind: 'interrupted' }))
        throw impatience.signal.reason
      },
    }
  }

  const faulty: FaultyStore = {
    url: store.url,
    calls: () => calls,
    struck: () => struck,
    impatience: impatience.signal,
    put: (key, body, options) =>
      call(() => store.put(key, body, options), {
        'keeps nothing and says it did': async () => {},
        'flips a bit of what is written': () => store.put(key, flipped(body), options),
      }),
    async create(key, options) {
      const writer = await call(() => store.create(key, options))
      return faultyWriter(writer)
    },
    get: (key, options) =>
      call(() => store.get(key, options), {
        'keeps nothing and says it did': async () => undefined,
        'flips a bit of what is read': async () => flipped(await store.get(key, options)),
        'cuts what is read': async () => (await store.get(key, options))?.subarray(0, -1),
      }),
    open: (key, options) =>
      call(() => store.open(key, options), {
        'keeps nothing and says it did': async () => undefined,
        'flips a bit of what is read': async () => altered(await store.open(key, options), flipped),
        'cuts what is read': async () =>
          altered(await store.open(key, options), (chunk) => chunk.subarray(0, -1)),
      }),
    async *list(prefix, options) {
      yield* await call(() => Array.fromAsync(store.list(prefix, options)))
    },
    remove: (key, options) =>
      call(() => store.remove(key, options), {
        'keeps nothing and says it did': async () => {},
      }),
    async *listPrefixes(options) {
      yield* await call(() => Array.fromAsync(store.listPrefixes(options)))
    },
    async *listUnfinished(options) {
      yield* await call(() => Array.fromAsync(store.listUnfinished(options)))
    },
    close: () => store.close(),
  }

  function faultyWriter(writer: ObjectWriter): ObjectWriter {
    return {
      write: (chunk) =>
        call(() => writer.write(chunk), {
          'keeps nothing and says it did': async () => {},
          'flips a bit of what is written': () => writer.write(flipped(chunk)),
        }),
      commit: () =>
        call(() => writer.commit(), {
          'keeps nothing and says it did': async () => writer[Symbol.asyncDispose](),
        }),
      [Symbol.asyncDispose]: () => writer[Symbol.asyncDispose](),
    }
  }

  return faulty
}

/** A copy with one bit changed, in the middle. */
function flipped<T extends Uint8Array | undefined>(bytes: T): T {
  if (bytes === undefined || bytes.length === 0) return bytes
  const copy = Uint8Array.from(bytes)
  const middle = copy.length >> 1
  copy[middle] = (copy[middle] ?? 0) ^ 1
  return copy as T
}

async function* alteredChunks(
  body: AsyncIterable<Uint8Array>,
  alter: (chunk: Uint8Array) => Uint8Array,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield alter(chunk)
}

function altered(
  body: AsyncIterable<Uint8Array> | undefined,
  alter: (chunk: Uint8Array) => Uint8Array,
): AsyncIterable<Uint8Array> | undefined {
  return body && alteredChunks(body, alter)
}
