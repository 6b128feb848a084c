import { expect } from 'vitest'
import { listFolders } from '../../src/archive/archive.ts'
import type { Manifest } from '../../src/archive/manifest.ts'
import { verifySnapshots } from '../../src/archive/verify.ts'
import type { Opener } from '../../src/datafile/encryption.ts'
import type { ObjectStore } from '../../src/store/object-store.ts'

/** Snapshots that are good, as `<account>/<snapshot>`, with what their manifests say. */
export type GoodSnapshots = ReadonlyMap<string, Manifest>

/** Everything that is listed; fails when any of it does not verify. */
export async function readGood(
  store: ObjectStore,
  { opener }: { opener?: Opener | undefined } = {},
): Promise<GoodSnapshots> {
  const listed = (await Array.fromAsync(listFolders(store))).filter(({ complete }) => complete)
  const verified = await Array.fromAsync(verifySnapshots(store, listed, { opener }))
  const defects = verified.flatMap((one) =>
    one.defects.map(({ key, problem }) => `${key}: ${problem}`),
  )
  expect(defects, 'what is listed verifies').toEqual([])
  expect(verified.length, 'snapshots verified of those listed').toBe(listed.length)
  return new Map(
    verified.flatMap(({ accountId, snapshot, manifest }) =>
      manifest ? [[`${accountId}/${snapshot}`, manifest]] : [],
    ),
  )
}

/** What a fault came upon, and what it may have done. */
export interface Aftermath {
  /** What was good before the fault. */
  readonly before: GoodSnapshots
  /** What a prune was to remove: it may be there or gone. */
  readonly doomed?: ReadonlySet<string>
  /** Snapshots that runs said they had taken. */
  readonly claimed?: readonly string[]
  /** A run with the fault gone; returns its snapshot as `<account>/<snapshot>`. */
  nextRun(): Promise<string>
}

/**
 * The promise of the archive, after whatever happened to it: every snapshot that is listed
 * verifies, none that was good before is gone or altered, none that a run spoke of is missing, and
 * the next run takes its snapshot and leaves the others as they were.
 */
export async function expectInvariant(store: ObjectStore, aftermath: Aftermath): Promise<void> {
  const { before, doomed = new Set(), claimed = [], nextRun } = aftermath
  const found = await readGood(store)
  expectKept(
    found,
    [...before].filter(([name]) => !doomed.has(name)),
  )
  for (const name of claimed)
    expect(found.has(name), `${name} is there, as its run said`).toBe(true)
  const next = await nextRun()
  const after = await readGood(store)
  expectKept(after, [...found])
  expect(after.has(next), `${next}, of the next run, is there`).toBe(true)
}

function expectKept(found: GoodSnapshots, before: readonly [string, Manifest][]): void {
  for (const [name, manifest] of before) {
    expect(found.get(name), `${name} is there as it was`).toEqual(manifest)
  }
}
