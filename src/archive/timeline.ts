import { pMapIterable } from 'p-map'
import type { ObjectStore } from '../store/object-store.ts'
import { type SnapshotFolder, tryReadManifest } from './archive.ts'
import { type Manifest, ManifestError } from './manifest.ts'
import type { StoredExport } from './stored-export.ts'

/** Successive snapshots of an account between which no object of a type changed. */
export interface Stretch extends StoredExport {
  readonly snapshots: number
}

/** All snapshots of one account in the order of time. */
export interface Timeline {
  readonly types: readonly string[]
  /** The stretches of a type, oldest first; snapshots without the type are passed over. */
  stretches(type: string): readonly Stretch[]
  readonly snapshots: number
  /** Manifests that cannot be read: what their snapshots hold is not known. */
  readonly unreadable: readonly ManifestError[]
}

/** Manifests read at once. */
const CONCURRENCY = 16

/**
 * Reads the manifests of an account's snapshots, given oldest first. Keeps only those after which
 * some object differs or that have files of their own, so that thousands of unchanged snapshots
 * cost next to nothing.
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
        if (!current.copies.some((copy) => sameFiles(copy, manifest))) current.copies.push(manifest)
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

function sameFiles(one: Manifest, other: Manifest): boolean {
  return (one.sameAs ?? one.snapshot) === (other.sameAs ?? other.snapshot)
}

function digestOf({ exports }: Manifest, type: string): string | undefined {
  return exports.find((entry) => entry.type === type)?.contentDigest
}
