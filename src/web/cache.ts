import { fileKey, manifestName } from '../archive/archive.ts'
import { decodeManifest } from '../archive/manifest.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Values by key. When there is no room, the least recently used ones are removed. */
interface Cache<Value> {
  /** The value of the key, made by `make` when it is not there. Readers at the same time share it. */
  get(key: string, make: () => Promise<Value>): Promise<Value>
  remove(key: string): void
}

/**
 * Creates a cache of values whose sizes together are at most `maxSize`. Keeps no failures, and no
 * values for which `sizeOf` returns undefined.
 */
export function createCache<Value>(
  maxSize: number,
  sizeOf: (value: Value, key: string) => number | undefined,
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
          const size = sizeOf(value, key)
          if (size === undefined) return remove(key)
          entry.size = size
          total += size
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

/** Bytes of manifests kept, about 5,000 of them. */
const MAX_MANIFEST_BYTES = 8 * 1024 * 1024

/**
 * Returns the same store, which keeps manifests in memory: a manifest never changes once it is written.
 * A missing or damaged one is read again, because it may be written later or be repaired.
 */
export function cacheManifests(store: ObjectStore): ObjectStore {
  const cache = createCache<Uint8Array | undefined>(MAX_MANIFEST_BYTES, (bytes, key) =>
    bytes !== undefined && isManifestOf(key, bytes) ? bytes.length : undefined,
  )
  return {
    ...store,
    async get(key, options) {
      if (!key.endsWith(`/${manifestName}`)) return store.get(key, options)
      // One reader must not stop the others: a reader that leaves does not end the request.
      const bytes = await cache.get(key, () => store.get(key, { maxBytes: options.maxBytes }))
      options.signal?.throwIfAborted()
      return bytes
    },
  }
}

/** Whether the bytes are the manifest that belongs to the key. */
function isManifestOf(key: string, bytes: Uint8Array): boolean {
  try {
    const { account, snapshot } = decodeManifest(bytes, key)
    return fileKey(account.id, snapshot, manifestName) === key
  } catch {
    return false
  }
}
