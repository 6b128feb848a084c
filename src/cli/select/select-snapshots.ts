import { listFolders, type SnapshotFolder } from '../../archive/archive.ts'
import { DashkeepError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { warnOfFuture } from '../print/warn-of-future.ts'
import { findReferenced, nearestNames, referenceForms } from './snapshot-reference.ts'

interface SelectOptions {
  readonly accountId?: number | undefined
  readonly signal: AbortSignal
  /** What `3 days ago` is counted from, and what snapshots from the future are told by. */
  readonly now: Date
  /** Gets a warning of each account that has snapshots from the future. */
  readonly log: Logger
}

/**
 * Finds the snapshots that a command line means (see `findReferenced`), each reference counting for
 * every account. Throws a `usage` error for what the archive does not hold.
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

/** Finds the one snapshot that a reference means. Throws when accounts have to be told apart. */
export async function selectSnapshot(
  store: ObjectStore,
  reference: string,
  options: SelectOptions,
): Promise<SnapshotFolder> {
  const folders = await selectSnapshots(store, [reference], options)
  const [first] = folders
  if (first !== undefined && folders.length === 1) return first
  throw severalAccounts(
    `Cannot choose the snapshot ${reference}: several accounts have one`,
    folders.map(({ accountId }) => accountId),
  )
}

/** The snapshots of one account, oldest first. Throws when there are several accounts or none. */
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

/** Finds what a reference means among the snapshots of one account. Throws for what is not there. */
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
  if (accounts.size === 0) throw nothingThere(store.url, options.accountId)
  for (const [accountId, folders] of accounts) {
    warnOfFuture(options.log, accountId, folders, options.now)
  }
  return accounts
}

/** What a reference means in each account: an account without it is passed over if another has it. */
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
    hint: `choose one with --account: ${ids.join(', ')}`,
  })
}

function nothingThere(url: string, accountId: number | undefined): DashkeepError {
  const whose = accountId === undefined ? '' : ` of account ${accountId}`
  return new DashkeepError(`Cannot find a snapshot${whose}: ${url} holds none`, {
    kind: 'usage',
    hint: 'check the store and the account id; `dashkeep list` shows what is there',
  })
}

function unknownSnapshot(reference: string, folders: readonly SnapshotFolder[]): DashkeepError {
  const alike = nearestNames(folders, reference)
  return new DashkeepError(`Cannot find the snapshot ${reference}: the archive does not hold it`, {
    kind: 'usage',
    hint:
      alike.length > 0
        ? `there is ${alike.join(', ')}`
        : `say ${referenceForms}; \`dashkeep list\` shows the snapshots there are`,
  })
}
