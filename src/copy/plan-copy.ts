import { damageNoteName, listAccounts, type SnapshotFolder } from '../archive/archive.ts'
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
}

export interface CopySelection {
  /** Only these accounts. */
  readonly only?: ReadonlySet<number> | undefined
  /** Leaves out snapshots older than the newest one of the copy. */
  readonly newerOnly?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds what the copy lacks, account by account, from a listing of each store. A snapshot is complete
 * in the copy when each of its files is there with the size that it has in the archive. Nothing is
 * read or written.
 */
export async function* planCopy(
  { source, target }: Direction,
  { only, newerOnly = false, signal }: CopySelection = {},
): AsyncGenerator<AccountCopyPlan> {
  const accountId = only?.size === 1 ? [...only][0] : undefined
  await using copies = createLookup(listAccounts(target, { accountId, signal }))
  for await (const { accountId: id, folders } of listAccounts(source, { accountId, signal })) {
    if (only?.has(id) === false) continue
    const copied = new Map((await copies.find(id)).map((folder) => [folder.snapshot, folder]))
    const newest = newerOnly ? newestOf(copied.values()) : undefined
    const complete = folders.filter((folder) => folder.complete)
    const lacking = complete
      .map((folder) => ({ folder, copied: copied.get(folder.snapshot) }))
      .filter(({ folder, copied }) => !isCopied(folder, copied))
    const missing = lacking.filter(({ folder }) => newest === undefined || folder.snapshot > newest)
    const there = complete.length - lacking.length
    yield { accountId: id, there, missing, copied }
  }
}

/** Whether a copy has every file with the same size. The note of damage is not copied. */
function isCopied({ files }: SnapshotFolder, copied: SnapshotFolder | undefined): boolean {
  return [...files].every(
    ([name, { size }]) => name === damageNoteName || copied?.files.get(name)?.size === size,
  )
}

function newestOf(folders: Iterable<SnapshotFolder>): string | undefined {
  return [...folders].filter(({ complete }) => complete).at(-1)?.snapshot
}

/** Two listings come in the same order, so the second is read along with the first. */
function createLookup(accounts: AsyncGenerator<{ accountId: number; folders: SnapshotFolder[] }>) {
  let current: IteratorResult<{ accountId: number; folders: SnapshotFolder[] }> | undefined
  return {
    async find(accountId: number): Promise<SnapshotFolder[]> {
      for (;;) {
        current ??= await accounts.next()
        if (current.done || compare(current.value.accountId, accountId) > 0) return []
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
function compare(one: number, other: number): number {
  const [a, b] = [`${one}/`, `${other}/`]
  return a < b ? -1 : a > b ? 1 : 0
}
