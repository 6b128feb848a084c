import pMap, { pMapIterable } from 'p-map'
import { listAccounts, type SnapshotFolder, sizeOf } from '../archive/archive.ts'
import { splitByTime } from '../archive/future.ts'
import { listPins } from '../archive/pins.ts'
import { readProofs } from '../proofs/read.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type ReportTerms, reportAccount } from './account-report.ts'
import { readLocks } from './read-locks.ts'
import { type ReadSnapshot, readSnapshot } from './read-snapshot.ts'
import type { AccountReport } from './report.ts'
import { reportProofs } from './report-proofs.ts'

/** Accounts read at once, and manifests of one account read at once. */
const ACCOUNTS_AT_ONCE = 4
const READS_AT_ONCE = 16

/** An account of the archive, before its copies and its need of attention are known. */
type ReadAccount = Omit<AccountReport, 'attention' | 'copies'> & {
  readonly accountId: number
}

/** How an account of the archive appears in the configuration. */
export interface ConfiguredAccount {
  readonly configuredAs: string | undefined
  readonly isConfigured: boolean
}

interface ReadOptions {
  readonly accountId?: number | undefined
  /** Finds an account in the configuration by its id, and by the name that a manifest recorded. */
  readonly findConfigured: (accountId: number, recorded: string | undefined) => ConfiguredAccount
  readonly signal?: AbortSignal | undefined
}

/** Reads all manifests of each account of the archive, and reports on it. */
export async function* readAccounts(
  store: ObjectStore,
  terms: ReportTerms,
  options: ReadOptions,
): AsyncGenerator<ReadAccount> {
  const accounts = listAccounts(store, options)
  const read = (account: ListedAccount) => readAccount(store, account, terms, options)
  yield* pMapIterable(accounts, read, { concurrency: ACCOUNTS_AT_ONCE })
}

interface ListedAccount {
  readonly accountId: number
  readonly folders: readonly SnapshotFolder[]
}

async function readAccount(
  store: ObjectStore,
  { accountId, folders }: ListedAccount,
  terms: ReportTerms,
  options: ReadOptions,
): Promise<ReadAccount> {
  const { signal, findConfigured } = options
  const complete = folders.filter((folder) => folder.complete)
  const unfinished = folders.filter((folder) => !folder.complete)
  const { past, future } = splitByTime(complete, terms.now)
  const byName = new Map(folders.map((folder) => [folder.snapshot, folder]))
  const pins = await listPins(store, accountId, { signal })
  const snapshots = await pMap(past, (folder) => readSnapshot(store, folder, byName, { signal }), {
    concurrency: READS_AT_ONCE,
  })
  const { name, configuredAs: recorded } = findNames(snapshots)
  const configured = findConfigured(accountId, recorded)
  const archive = { snapshots, fromFuture: future, unfinished, pins }
  const bytes = folders.reduce((sum, folder) => sum + sizeOf(folder), 0)
  return {
    ...reportAccount(archive, terms, configured),
    ...configured,
    accountId,
    name,
    stored: { snapshots: complete.length, bytes },
    locks: await readLocks(store, snapshots, { now: terms.now, signal }),
    proofs: reportProofs(await readProofs(store, accountId, { signal }), terms),
  }
}

/** The names of the account in its newest readable manifest. */
function findNames(snapshots: readonly ReadSnapshot[]): { name?: string; configuredAs?: string } {
  const newest = snapshots.findLast(({ manifest }) => manifest !== undefined)
  const { name, configuredAs } = newest?.manifest?.account ?? {}
  return {
    ...(name !== undefined && { name }),
    ...(configuredAs !== undefined && { configuredAs }),
  }
}
