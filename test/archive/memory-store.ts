import { setImmediate } from 'node:timers/promises'
import { guardWriter } from '../../src/store/guarded-writer.ts'
import { checkKey, compareKeys, prefixesOf } from '../../src/store/keys.ts'
import {
  type ObjectMetadata,
  type ObjectStore,
  ObjectTooLargeError,
  type StoredObject,
  type UnfinishedWrite,
} from '../../src/store/object-store.ts'

/** One thing asked of the store. `write` and `commit` are steps of an object begun by `create`. */
export interface StoreCall {
  readonly action:
    | 'put'
    | 'create'
    | 'write'
    | 'commit'
    | 'get'
    | 'open'
    | 'list'
    | 'remove'
    | 'protect'
  readonly key: string
}

/** A store in memory that keeps the promises of the port, shows what it holds and breaks on demand. */
export interface MemoryStore extends ObjectStore {
  readonly objects: Map<string, Uint8Array>
  readonly metadata: Map<string, ObjectMetadata>
  /** What `listUnfinished` shows: writers leave nothing here by themselves. */
  readonly left: Set<UnfinishedWrite>
  /** Everything asked for, in order. */
  readonly calls: StoreCall[]
  /** Sees each call before it is answered; what it throws is the answer. */
  intercept: ((call: StoreCall) => void) | undefined
  /** Decides what is really kept of an object; undefined keeps nothing. */
  keep: (key: string, bytes: Uint8Array) => Uint8Array | undefined
  /** How long objects written with a lock stay locked; nothing is locked without it. */
  lockMs: number | undefined
  /** The end of every lock. */
  readonly locks: Map<string, Date>
  /** Largest chunk in which `open` hands out an object. */
  chunkBytes: number
  /** Writers that are neither committed nor disposed. */
  unfinished(): number
  keys(): string[]
}

export function createMemoryStore(): MemoryStore {
  const objects = new Map<string, Uint8Array>()
  const metadata = new Map<string, ObjectMetadata>()
  let unfinished = 0

  async function begin(action: StoreCall['action'], key: string, signal?: AbortSignal) {
    await setImmediate()
    signal?.throwIfAborted()
    store.calls.push({ action, key })
    store.intercept?.({ action, key })
  }

  function keep(
    key: string,
    bytes: Uint8Array,
    { facts = {}, lockFrom }: { facts?: ObjectMetadata | undefined; lockFrom?: Date | undefined },
  ): void {
    const kept = store.keep(key, bytes)
    if (kept === undefined) return
    objects.set(key, Uint8Array.from(kept))
    metadata.set(key, facts)
    if (lockFrom !== undefined) lock(key, lockFrom)
  }

  function lock(key: string, from: Date): void {
    if (store.lockMs === undefined) return
    const until = new Date(from.getTime() + store.lockMs)
    if (until > (store.locks.get(key) ?? new Date(0))) store.locks.set(key, until)
  }

  const store: MemoryStore = {
    url: 'memory:',
    objects,
    metadata,
    left: new Set(),
    calls: [],
    intercept: undefined,
    keep: (_key, bytes) => bytes,
    lockMs: undefined,
    locks: new Map(),
    chunkBytes: 1024 * 1024,
    unfinished: () => unfinished,
    keys: () => [...objects.keys()].sort(compareKeys),

    async put(key, body, { metadata: facts, lockFrom, signal } = {}) {
      checkKey(key)
      await begin('put', key, signal)
      keep(key, body, { facts, lockFrom })
    },

    async create(key, { metadata: facts, lockFrom, signal } = {}) {
      checkKey(key)
      await begin('create', key, signal)
      unfinished += 1
      const chunks: Uint8Array[] = []
      return guardWriter(
        {
          async write(chunk) {
            await begin('write', key)
            chunks.push(Uint8Array.from(chunk))
          },
          async commit() {
            await begin('commit', key)
            keep(key, Buffer.concat(chunks), { facts: facts?.(), lockFrom })
            unfinished -= 1
          },
          async discard() {
            unfinished -= 1
          },
        },
        signal,
      )
    },

    async get(key, { maxBytes, signal }) {
      checkKey(key)
      await begin('get', key, signal)
      const body = objects.get(key)
      if (body !== undefined && body.length > maxBytes) {
        throw new ObjectTooLargeError(`Cannot read ${key}: it has ${body.length} bytes`)
      }
      return body && Uint8Array.from(body)
    },

    async open(key, { signal } = {}) {
      checkKey(key)
      await begin('open', key, signal)
      const body = objects.get(key)
      return body && inChunks(body, store.chunkBytes)
    },

    async *list(prefix, { startAfter, signal } = {}) {
      await begin('list', prefix, signal)
      for (const key of store.keys()) {
        if (!key.startsWith(prefix)) continue
        if (startAfter !== undefined && compareKeys(key, startAfter) <= 0) continue
        const { length: size } = objects.get(key) ?? new Uint8Array()
        yield { key, size, modifiedAt: new Date(0) } satisfies StoredObject
      }
    },

    async *listPrefixes({ signal } = {}) {
      await begin('list', '', signal)
      yield* prefixesOf(objects.keys())
    },

    async remove(key, { signal } = {}) {
      checkKey(key)
      await begin('remove', key, signal)
      objects.delete(key)
      metadata.delete(key)
    },

    async protect(key, { lockFrom, signal }) {
      await begin('protect', key, signal)
      lock(key, lockFrom)
      return objects.has(key)
    },

    async lockedUntil(key) {
      return store.locks.get(key)
    },

    async *listUnfinished({ signal } = {}) {
      signal?.throwIfAborted()
      yield* store.left
    },

    async close() {},
  }
  return store
}

/** Yields the bytes from one buffer, filled again for each chunk, as the port allows a store to do. */
async function* inChunks(body: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(Math.min(size, body.length))
  for (let at = 0; at < body.length; at += size) {
    await setImmediate()
    const chunk = body.subarray(at, at + size)
    buffer.set(chunk)
    yield buffer.subarray(0, chunk.length)
    buffer.fill(0xff)
  }
}

/** The same bytes with one bit changed. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes)
  const at = bit >> 3
  flipped[at] = (flipped[at] ?? 0) ^ (1 << (bit & 7))
  return flipped
}
