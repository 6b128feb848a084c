import { DashkeepError } from '../errors.ts'
import { listFolders, type SnapshotFolder } from '../snapshot/archive.ts'
import type { ObjectStore } from '../store/object-store.ts'

/**
 * Finds the snapshots that a command line names, `latest` being the newest of each account.
 * Throws a `usage` error for a name that the archive does not hold.
 */
export async function selectSnapshots(
  store: ObjectStore,
  names: readonly string[],
  options: { accountId?: number | undefined; signal: AbortSignal },
): Promise<SnapshotFolder[]> {
  const folders: SnapshotFolder[] = []
  for await (const folder of listFolders(store, options)) if (folder.complete) folders.push(folder)
  if (folders.length === 0) throw nothingThere(store.url, options.accountId)
  const newest = new Map(folders.map((folder) => [folder.accountId, folder]))
  const selected = names.flatMap((name) => {
    if (name === 'latest') return [...newest.values()]
    const found = folders.filter(({ snapshot }) => snapshot === name)
    if (found.length === 0) throw unknownSnapshot(name, folders)
    return found
  })
  return [...new Set(selected)]
}

/** Finds the one snapshot that a name stands for. Throws when accounts have to be told apart. */
export async function selectSnapshot(
  store: ObjectStore,
  name: string,
  options: { accountId: number | undefined; signal: AbortSignal },
): Promise<SnapshotFolder> {
  const folders = await selectSnapshots(store, [name], options)
  const [first] = folders
  if (first !== undefined && folders.length === 1) return first
  const ids = folders.map(({ accountId }) => accountId).join(', ')
  throw new DashkeepError(`Cannot choose the snapshot ${name}: several accounts have one`, {
    kind: 'usage',
    hint: `choose one with --account: ${ids}`,
  })
}

function nothingThere(url: string, accountId: number | undefined): DashkeepError {
  const whose = accountId === undefined ? '' : ` of account ${accountId}`
  return new DashkeepError(`Cannot find a snapshot${whose}: ${url} holds none`, {
    kind: 'usage',
    hint: 'check the store and the account id; `dashkeep list` shows what is there',
  })
}

function unknownSnapshot(name: string, folders: readonly SnapshotFolder[]): DashkeepError {
  const alike = folders
    .map(({ snapshot }) => snapshot)
    .filter((snapshot) => snapshot.startsWith(name.slice(0, 8)))
    .slice(-3)
  return new DashkeepError(`Cannot find the snapshot ${name}: the archive does not hold it`, {
    kind: 'usage',
    hint:
      alike.length > 0
        ? `there is ${alike.join(', ')}`
        : '`dashkeep list` shows the snapshots there are',
  })
}
