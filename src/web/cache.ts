import { manifestName } from '../archive/archive.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Values by key; the least recently used ones leave when there is no room. */
export interface Cache<Value> {
  /** The value of the key, made by `make` when it is not there. Readers at the same time share it. */
  get(key: string, make: () => Promise<Value>): Promise<Value>
  remove(key: string): void
}

/** Creates a cache of values whose sizes together are at most `maxSize`. A failure is not kept. */
export function createCache<Value>(
  maxSize: number,
  sizeOf: (value: Value) => number,
): Cache<Value> {
  const entries = new Map<string, { value: Promise<Value>; size: number }>()
  let total = 0
  const remove = (key: string) => {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }
  return {
    remove,
    get(key, make) {
      const known = entries.get(key)
      if (known !== undefined) {
        entries.delete(key)
        entries.set(key, known)
        return known.value
      }
      const entry = { value: make(), size: 0 }
      entries.set(key, entry)
      entry.value.then(
        (value) => {
          // It may have been removed meanwhile.
          if (entries.get(key) !== entry) return
          entry.size = sizeOf(value)
          total += entry.size
          for (const oldest of entries.keys()) {
            if (total <= maxSize) break
            remove(oldest)
          }
        },
        () => {
          if (entries.get(key) === entry) remove(key)
        },
      )
      return entry.value
    },
  }
}

/** Bytes of manifests kept, about 10,000 of them. */
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024

/** The same store, which keeps manifests in memory: nobody changes one after it is written. */
export function cacheManifests(store: ObjectStore): ObjectStore {
  const cache = createCache<Uint8Array | undefined>(
    MAX_MANIFEST_BYTES,
    (bytes) => bytes?.length ?? 0,
  )
  return {
    ...store,
    async get(key, options) {
      if (!key.endsWith(`/${manifestName}`)) return store.get(key, options)
      // One reader must not stop the others: a reader that leaves does not end the request.
      const bytes = await cache
        .get(key, async () => {
          const found = await store.get(key, { maxBytes: options.maxBytes })
          if (found === undefined) throw absent
          return found
        })
        .catch((error) => {
          if (error === absent) return undefined
          throw error
        })
      options.signal?.throwIfAborted()
      return bytes
    },
  }
}

/** Stands for a manifest that is not there, which may come later. */
const absent = new Error('no manifest')
