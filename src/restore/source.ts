import type { Manifest } from '../archive/manifest.ts'
import { type ReadOptions, readObjects } from '../archive/read-objects.ts'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** Version and number of the objects of one type in a source. */
export interface SourceExport {
  readonly type: string
  readonly kibanaVersion: string
  /** Number of objects, not counted by `readHits`, so that both can be compared. */
  readonly objects: number
}

/** The source of the objects to restore. Each reading starts from the beginning and proves the data. */
export interface RestoreSource {
  /** Name for messages, such as `snapshot 20261120T163100Z-4f2a1c of account 100001 (Shop)`. */
  readonly label: string
  /** The account of the objects; undefined when the source does not name it. */
  readonly account: { readonly id: number; readonly name: string } | undefined
  readonly exports: readonly SourceExport[]
  /**
   * Yields the bytes of the hits of a type, in the order received. They are proven only at the end of
   * the iteration, which throws when they differ from what was stored.
   */
  readHits(type: string): AsyncIterable<Uint8Array>
}

/** Whether objects of the type can be imported. Settings of sub accounts cannot. */
export function isImportable(type: string): boolean {
  return type !== 'sub-accounts'
}

/** A snapshot of the archive as a source. Leaves out types that cannot be imported. */
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

/** Throws a `usage` error for a suspect snapshot, unless it is allowed. */
export function refuseSuspect(
  { snapshot, suspect }: Manifest,
  { allowSuspect }: { allowSuspect?: boolean | undefined },
): void {
  if (suspect === undefined || allowSuspect) return
  const { reasons, lastGood } = suspect
  throw new DashkeepError(
    `Cannot restore snapshot ${snapshot}: it is suspect (${reasons.join('; ')})`,
    {
      kind: 'usage',
      hint: `${lastGood === undefined ? '' : `the last good one is ${lastGood}; `}--allow-suspect restores it anyway`,
    },
  )
}
