import { listFolders, type SnapshotFolder } from '../../archive/archive.ts'
import { DashkeepError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { Context } from '../context.ts'
import { listSome } from '../print/list-some.ts'
import { warnOfFuture } from '../print/warn-of-future.ts'
import type { Terminal } from '../terminal.ts'
import { resolveAccountId } from './choose-account.ts'
import { findReferenced, nearestNames, referenceForms } from './snapshot-reference.ts'

/** Accounts that a hint lists. */
const MAX_LISTED = 20

interface SelectOptions {
  readonly accountId?: number | undefined
  readonly signal: AbortSignal
  /** The present time: `3 days ago` counts from it, and later snapshots are from the future. */
  readonly now: Date
  /** Receives a warning for each account that has snapshots from the future. */
  readonly log: Logger
}

/**
 * Finds the snapshots that references mean (see `findReferenced`), in every account. Throws a `usage`
 * error for a reference that no account has.
 */
export async function selectSnapshots(
  store: ObjectStore,
  references: readonly string[],
  options: SelectOptions,
): Promise<SnapshotFolder[]> {
  const accounts = await listComplete(store, options)
  const selected = references.flatMap((reference) =>
    selectInEach([...accounts.values()], reference, options.now),
  )
  return [...new Set(selected)]
}

/** Finds the one snapshot that a reference means. Throws a `usage` error when several accounts have one. */
async function selectSnapshot(
  store: ObjectStore,
  reference: string,
  options: SelectOptions,
): Promise<SnapshotFolder> {
  const folders = await selectSnapshots(store, [reference], options)
  const [first] = folders
  if (first !== undefined && folders.length === 1) return first
  throw severalAccounts(
    `Cannot choose the snapshot ${reference}: several accounts have such a snapshot`,
    folders.map(({ accountId }) => accountId),
  )
}

/** Finds the one snapshot that `--account` and a reference, by default the newest, mean. */
export async function selectByOptions(
  { now: clock, signal }: Terminal,
  { config, log }: Context,
  store: ObjectStore,
  { account, snapshot = 'latest' }: { readonly account?: string; readonly snapshot?: string },
): Promise<SnapshotFolder> {
  const now = clock()
  const accountId = await resolveAccountId(store, config, account, { now, signal })
  return selectSnapshot(store, snapshot, { accountId, signal, now, log })
}

/** The snapshots of one account, oldest first. Throws when the archive holds several accounts or none. */
export async function selectAccountFolders(
  store: ObjectStore,
  options: SelectOptions,
): Promise<[SnapshotFolder, ...SnapshotFolder[]]> {
  const accounts = await listComplete(store, options)
  const [folders] = accounts.values()
  if (folders !== undefined && accounts.size === 1) return folders
  throw severalAccounts('Cannot choose the account: the archive holds several', [
    ...accounts.keys(),
  ])
}

/** Finds the snapshot of one account that a reference means. Throws a `usage` error when there is none. */
export function selectFolder(
  folders: readonly SnapshotFolder[],
  reference: string,
  now: Date,
): SnapshotFolder {
  const found = findReferenced(folders, reference, now)
  if (found === undefined) throw unknownSnapshot(reference, folders)
  return found
}

/** The snapshots by account. Throws when there is none. */
async function listComplete(
  store: ObjectStore,
  options: SelectOptions,
): Promise<Map<number, [SnapshotFolder, ...SnapshotFolder[]]>> {
  const accounts = new Map<number, [SnapshotFolder, ...SnapshotFolder[]]>()
  for await (const folder of listFolders(store, options)) {
    if (!folder.complete) continue
    const folders = accounts.get(folder.accountId)
    if (folders === undefined) accounts.set(folder.accountId, [folder])
    else folders.push(folder)
  }
  if (accounts.size === 0) throw noSnapshots(store.url, options.accountId)
  for (const [accountId, folders] of accounts) {
    warnOfFuture(options.log, accountId, folders, options.now)
  }
  return accounts
}

/** The snapshot of each account that a reference means. Throws when no account has one. */
function selectInEach(
  accounts: readonly (readonly SnapshotFolder[])[],
  reference: string,
  now: Date,
): SnapshotFolder[] {
  const errors: unknown[] = []
  const found = accounts.flatMap((folders) => {
    try {
      return findReferenced(folders, reference, now) ?? []
    } catch (error) {
      errors.push(error)
      return []
    }
  })
  if (found.length > 0) return found
  throw errors[0] ?? unknownSnapshot(reference, accounts.flat())
}

function severalAccounts(message: string, ids: readonly number[]): DashkeepError {
  return new DashkeepError(message, {
    kind: 'usage',
    hint: `choose one with --account: ${listSome(ids.map(String), MAX_LISTED)}`,
  })
}

function noSnapshots(url: string, accountId: number | undefined): DashkeepError {
  const owner = accountId === undefined ? '' : ` of account ${accountId}`
  return new DashkeepError(`Cannot find a snapshot${owner}: ${url} holds none`, {
    kind: 'usage',
    hint: 'check the store and the account id; `dashkeep list` lists the snapshots',
  })
}

function unknownSnapshot(reference: string, folders: readonly SnapshotFolder[]): DashkeepError {
  const near = nearestNames(folders, reference)
  return new DashkeepError(`Cannot find the snapshot ${reference}: the archive does not hold it`, {
    kind: 'usage',
    hint:
      near.length > 0
        ? `similar names are ${near.join(', ')}`
        : `use ${referenceForms}; \`dashkeep list\` lists the snapshots`,
  })
}
