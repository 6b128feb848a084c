import { addressError } from './address-error.ts'
import type { ObjectStore } from './object-store.ts'
import type { OpenBucketOptions } from './s3/open.ts'

/** Options of every kind of store. A folder needs none. */
type OpenStoreOptions = OpenBucketOptions

/** A kind of store. */
interface StoreKind {
  /** The beginning of addresses of this kind. */
  readonly scheme: string
  /** Opens the store at an address. Loads the code of this kind first. */
  open(url: string, options: OpenStoreOptions): Promise<ObjectStore>
}

/** All kinds of stores. A new kind needs a folder and an entry here. */
const kinds: readonly StoreKind[] = [
  {
    scheme: 's3:',
    async open(url, options) {
      const { openBucket } = await import('./s3/open.ts')
      return await openBucket(url, options)
    },
  },
  {
    scheme: 'file:',
    async open(url) {
      const { openDirectory } = await import('./directory/open.ts')
      return openDirectory(url)
    },
  },
]

/**
 * Opens the store at `s3://bucket/prefix` or `file:///folder`. Sends no request: an unreachable store
 * fails at the first call.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<ObjectStore> {
  const kind = kinds.find(({ scheme }) => url.startsWith(scheme))
  if (kind === undefined) throw addressError(url, 'it begins with neither s3:// nor file://')
  return await kind.open(url, options)
}
