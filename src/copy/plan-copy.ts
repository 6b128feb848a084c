import { isArchiveFile, listAccounts, type SnapshotFolder } from '../archive/archive.ts'
import { isFromFuture } from '../archive/future.ts'
import { compareValues } from '../order.ts'
import type { Direction } from './copy-files.ts'

/** A snapshot of the archive that the copy does not have, or not completely. */
export interface MissingSnapshot {
  readonly folder: SnapshotFolder
  /** Its folder in the copy; undefined when the copy has nothing of it. */
  readonly copied: SnapshotFolder | undefined
}

/** What a copy lacks of one account. */
export interface AccountCopyPlan {
  readonly accountId: number
  /** Number of snapshots that the copy has completely. */
  readonly there: number
  /** Oldest first. */
  readonly missing: readonly MissingSnapshot[]
  /** The folders of the copy, by name. */
  readonly copied: ReadonlyMap<string, SnapshotFolder>
  /** Whether each snapshot must be copied before the next one begins. */
  readonly inOrder: boolean
}

/** Which snapshots a copy must have. */
export interface CopySelection {
  /** Only these accounts. */
  readonly only?: ReadonlySet<number> | undefined
  /**
   * Leaves out snapshots older than the newest one of the copy. Snapshots from the future do not count
   * as the newest.
   */
  readonly newerOnly?: boolean | undefined
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds what the copy lacks, account by account, from a listing of each store. A snapshot is complete
 * in the copy when both have the same files with the same sizes. Nothing is read or written.
 */
export async function* planCopy(
  { source, target }: Direction,
  { only, newerOnly = false, now, signal }: CopySelection,
): AsyncGenerator<AccountCopyPlan> {
  const accountId = only?.size === 1 ? [...only][0] : undefined
  await using copies = createLookup(listAccounts(target, { accountId, signal }))
  for await (const { accountId: id, folders } of listAccounts(source, { accountId, signal })) {
    if (only?.has(id) === false) continue
    const copied = new Map((await copies.find(id)).map((folder) => [folder.snapshot, folder]))
    const newest = newerOnly ? newestOf(copied.values(), now) : undefined
    const complete = folders.filter((folder) => folder.complete)
    const lacking = complete
      .map((folder) => ({ folder, copied: copied.get(folder.snapshot) }))
      .filter(({ folder, copied }) => !isCopied(folder, copied))
    const missing = lacking.filter(({ folder }) => newest === undefined || folder.snapshot > newest)
    const there = complete.length - lacking.length
    yield { accountId: id, there, missing, copied, inOrder: newerOnly }
  }
}

/** Whether archive and copy have the same files with the same sizes. Other people's files do not count. */
function isCopied(folder: SnapshotFolder, copied: SnapshotFolder | undefined): boolean {
  const [sizes, copiedSizes] = [sizesOf(folder), copied ? sizesOf(copied) : new Map()]
  if (sizes.size !== copiedSizes.size) return false
  return [...sizes].every(([name, size]) => copiedSizes.get(name) === size)
}

function sizesOf({ files }: SnapshotFolder): Map<string, number> {
  return new Map(
    [...files].flatMap(([name, { size }]) => (isArchiveFile(name) ? [[name, size] as const] : [])),
  )
}

function newestOf(folders: Iterable<SnapshotFolder>, now: Date): string | undefined {
  const whole = [...folders].filter((folder) => folder.complete && !isFromFuture(folder, now))
  return whole.at(-1)?.snapshot
}

/** Two listings come in the same order, so the second is read along with the first. */
function createLookup(accounts: AsyncGenerator<{ accountId: number; folders: SnapshotFolder[] }>) {
  let current: IteratorResult<{ accountId: number; folders: SnapshotFolder[] }> | undefined
  return {
    async find(accountId: number): Promise<SnapshotFolder[]> {
      for (;;) {
        current ??= await accounts.next()
        if (current.done || compareAccounts(current.value.accountId, accountId) > 0) return []
        const { value } = current
        current = undefined
        if (value.accountId === accountId) return value.folders
      }
    },
    async [Symbol.asyncDispose]() {
      await accounts.return(undefined)
    },
  }
}

/** The order of accounts in a listing: by the bytes of their keys. */
function compareAccounts(one: number, other: number): number {
  return compareValues(`${one}/`, `${other}/`)
}
