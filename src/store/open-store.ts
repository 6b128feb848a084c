import { addressError } from './address-error.ts'
import type { ObjectStore } from './object-store.ts'
import type { OpenBucketOptions } from './s3/open.ts'

/** How to reach a store of any kind. A folder needs only its address. */
export type OpenStoreOptions = OpenBucketOptions

/** A kind of store. */
interface StoreKind {
  /** What addresses of this kind begin with. */
  readonly scheme: string
  /** Opens the store at an address. Loads the code of this kind when it is called. */
  open(url: string, options: OpenStoreOptions): Promise<ObjectStore>
}

/** Every kind of store. A new kind is a folder and an entry here. */
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
 * Opens the store at `s3://bucket/prefix` or `file:///folder`. Sends no request: a store that
 * cannot answer fails at the first call.
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<ObjectStore> {
  const kind = kinds.find(({ scheme }) => url.startsWith(scheme))
  if (kind === undefined) throw addressError(url, 'it begins with neither s3:// nor file://')
  return await kind.open(url, options)
}
