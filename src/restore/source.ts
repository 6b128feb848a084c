import type { Manifest } from '../archive/manifest.ts'
import { type ReadOptions, readObjects } from '../archive/read-objects.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** What a source says of the objects of one type. */
export interface SourceExport {
  readonly type: string
  readonly kibanaVersion: string
  /** Number of objects, known by other means than `readHits`, which is checked against it. */
  readonly objects: number
}

/** Where the objects to restore come from. Each reading begins anew and proves what it reads. */
export interface RestoreSource {
  /** For people, such as `snapshot 20261120T163100Z-4f2a1c of account 100001 (Shop)`. */
  readonly label: string
  /** The account the objects are from; undefined when nobody wrote that down. */
  readonly account: { readonly id: number; readonly name: string } | undefined
  readonly exports: readonly SourceExport[]
  /**
   * Yields the hits of a type in their own bytes, in the order received. Only the end of the
   * iteration proves them: it throws when they are not what was stored.
   */
  readHits(type: string): AsyncIterable<Uint8Array>
}

/** Whether an import takes the type: settings of sub accounts, which a snapshot may hold, it does not. */
export function isImportable(type: string): boolean {
  return type !== 'sub-accounts'
}

/** A snapshot of the archive as a source, as far as it can be imported. */
export function snapshotSource(
  store: ObjectStore,
  manifest: Manifest,
  options: ReadOptions,
): RestoreSource {
  const { snapshot, account, exports } = manifest
  return {
    label: `snapshot ${snapshot} of account ${account.id} (${account.name})`,
    account,
    exports: exports.filter(({ type }) => isImportable(type)),
    async *readHits(type) {
      for await (const { bytes } of readObjects(store, manifest, type, options)) yield bytes
    },
  }
}
