import { pMapIterable } from 'p-map'
import type { ObjectStore } from '../store/object-store.ts'
import { type SnapshotFolder, tryReadManifest } from './archive.ts'
import { holderOf, type Manifest, ManifestError } from './manifest.ts'
import type { StoredExport } from './stored-export.ts'

/** A stretch: successive snapshots of an account with the same objects of a type. */
export interface Stretch extends StoredExport {
  readonly snapshots: number
}

/** All snapshots of one account, sorted by time. */
export interface Timeline {
  readonly types: readonly string[]
  /** The stretches of a type, oldest first. Snapshots without the type are skipped. */
  stretches(type: string): readonly Stretch[]
  readonly snapshots: number
  /** Errors of manifests that cannot be read. */
  readonly unreadable: readonly ManifestError[]
}

/** Manifests read at once. */
const CONCURRENCY = 16

/**
 * Reads the manifests of an account's snapshots. Expects the oldest folder first. Keeps only manifests
 * with changed objects or own files, so thousands of unchanged snapshots need little memory.
 */
export async function readTimeline(
  store: ObjectStore,
  folders: Iterable<SnapshotFolder>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Timeline> {
  const byType = new Map<string, GrowingStretch[]>()
  const unreadable: ManifestError[] = []
  let snapshots = 0
  const read = ({ accountId, snapshot }: SnapshotFolder) =>
    tryReadManifest(store, accountId, snapshot, { signal })
  for await (const stored of pMapIterable(folders, read, { concurrency: CONCURRENCY })) {
    if (stored instanceof ManifestError) {
      unreadable.push(stored)
      continue
    }
    const { manifest } = stored
    snapshots += 1
    for (const { type, contentDigest } of manifest.exports) {
      const stretches = byType.get(type) ?? []
      byType.set(type, stretches)
      const current = stretches.at(-1)
      if (current !== undefined && digestOf(current.manifest, type) === contentDigest) {
        current.last = manifest.snapshot
        current.snapshots += 1
        if (!current.copies.some((copy) => holderOf(copy) === holderOf(manifest)))
          current.copies.push(manifest)
      } else {
        const last = manifest.snapshot
        stretches.push({ store, type, manifest, last, snapshots: 1, copies: [manifest] })
      }
    }
  }
  return {
    types: [...byType.keys()],
    stretches: (type) => byType.get(type) ?? [],
    snapshots,
    unreadable,
  }
}

type GrowingStretch = Stretch & { last: string; snapshots: number; readonly copies: Manifest[] }

function digestOf({ exports }: Manifest, type: string): string | undefined {
  return exports.find((entry) => entry.type === type)?.contentDigest
}
