import { StoreError } from './errors.ts'
import { guardWriter, type WriterSteps } from './guarded-writer.ts'
import { checkKey, compareKeys, prefixesOf } from './keys.ts'
import {
  type ObjectStore,
  ObjectTooLargeError,
  type ObjectWriter,
  type UnfinishedWrite,
} from './object-store.ts'

/** Creates a store in memory, for temporary snapshots. */
export function createMemoryStore(): ObjectStore {
  const objects = new Map<string, { body: Uint8Array; modifiedAt: Date }>()
  const unfinished = new Set<UnfinishedWrite>()
  const keep = (key: string, body: Uint8Array) =>
    void objects.set(key, { body, modifiedAt: new Date() })

  function find(key: string, signal: AbortSignal | undefined): Uint8Array | undefined {
    checkKey(key)
    signal?.throwIfAborted()
    return objects.get(key)?.body
  }

  return {
    url: 'memory:',

    async put(key, body, { signal } = {}) {
      find(key, signal)
      keep(key, Uint8Array.from(body))
    },

    async create(key, { signal } = {}) {
      find(key, signal)
      return createMemoryWriter(key, { unfinished, keep, signal })
    },

    async get(key, { maxBytes, signal }) {
      const body = find(key, signal)
      if (body !== undefined && body.length > maxBytes) {
        throw new ObjectTooLargeError(
          `Cannot read ${key}: it has ${body.length} bytes, more than ${maxBytes}`,
        )
      }
      return body && Uint8Array.from(body)
    },

    async open(key, { signal } = {}) {
      const body = find(key, signal)
      return body && inChunks(body, signal)
    },

    async *list(prefix, { startAfter, signal } = {}) {
      for (const key of [...objects.keys()].sort(compareKeys)) {
        signal?.throwIfAborted()
        const found = objects.get(key)
        const isBehind = startAfter === undefined || compareKeys(key, startAfter) > 0
        if (found === undefined || !key.startsWith(prefix) || !isBehind) continue
        yield { key, size: found.body.length, modifiedAt: found.modifiedAt }
      }
    },

    async *listPrefixes({ signal } = {}) {
      signal?.throwIfAborted()
      yield* prefixesOf(objects.keys())
    },

    async remove(key, { signal } = {}) {
      find(key, signal)
      objects.delete(key)
    },

    async *listUnfinished({ signal } = {}) {
      signal?.throwIfAborted()
      yield* unfinished
    },

    async close() {
      objects.clear()
    },
  }
}

function createMemoryWriter(
  key: string,
  options: {
    unfinished: Set<UnfinishedWrite>
    keep: (key: string, body: Uint8Array) => void
    signal: AbortSignal | undefined
  },
): ObjectWriter {
  const { unfinished, keep, signal } = options
  const chunks: Uint8Array[] = []
  const write = {
    key,
    startedAt: new Date(),
    remove: async () => void unfinished.delete(write),
  }
  unfinished.add(write)
  const steps: WriterSteps = {
    write: async (chunk) => void chunks.push(Uint8Array.from(chunk)),
    async commit() {
      if (!unfinished.delete(write)) {
        throw new StoreError(`Cannot store ${key}: its unfinished content was removed`)
      }
      keep(key, Buffer.concat(chunks))
    },
    discard: write.remove,
  }
  return guardWriter(steps, signal)
}

const CHUNK_BYTES = 64 * 1024

async function* inChunks(
  body: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    signal?.throwIfAborted()
    yield body.slice(at, at + CHUNK_BYTES)
  }
}
