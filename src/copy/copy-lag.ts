// Tested by test/e2e/copy.test.ts

import type { SnapshotFolder } from '../archive/archive.ts'
import { isFromFuture } from '../archive/future.ts'
import type { Direction } from './copy-files.ts'
import { type CopySelection, planCopy } from './plan-copy.ts'

/** How far a copy is behind the archive, for one account. */
interface CopyLag {
  readonly accountId: number
  /** Snapshots that the copy lacks. */
  readonly missing: number
  /** The newest snapshot that the copy has completely, none from the future; undefined without one. */
  readonly newest: SnapshotFolder | undefined
}

/** Says from a listing of each store how far the copy is behind the archive. */
export async function* readCopyLag(
  stores: Direction,
  selection: CopySelection,
): AsyncGenerator<CopyLag> {
  for await (const { accountId, missing, copied } of planCopy(stores, selection)) {
    const lacking = new Set(missing.map(({ folder }) => folder.snapshot))
    const whole = [...copied.values()].filter(
      (folder) =>
        folder.complete && !lacking.has(folder.snapshot) && !isFromFuture(folder, selection.now),
    )
    yield { accountId, missing: missing.length, newest: whole.at(-1) }
  }
}
