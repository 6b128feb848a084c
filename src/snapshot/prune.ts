import pMap from 'p-map'
import type { ObjectStore } from '../store/object-store.ts'
import { listAccounts, manifestName, type SnapshotFolder, tryReadManifest } from './archive.ts'
import { ManifestError } from './manifest.ts'
import { listPins } from './pins.ts'
import {
  planRetention,
  type RetentionCandidate,
  type RetentionDecision,
  type RetentionPolicy,
} from './retention.ts'

/** Manifests read at once while planning. */
const READS_AT_ONCE = 16

/** Files without a manifest may belong to a run that goes on; older ones do not. */
const SWEEP_AFTER_MS = 24 * 3600_000

/** A snapshot with the keys it consists of. */
export interface PruneCandidate extends RetentionCandidate {
  readonly folder: SnapshotFolder
}

/** What is to happen to one account's part of the archive. Printing it changes nothing. */
export interface AccountPrunePlan {
  readonly accountId: number
  /** Why nothing of this account may be removed by retention now, when that is so. */
  readonly refusal: string | undefined
  readonly decisions: readonly RetentionDecision<PruneCandidate>[]
  /** Folders without a manifest that no run can still be writing. */
  readonly leftovers: readonly SnapshotFolder[]
}

/**
 * Plans account by account what to remove, from one listing, and the manifests. Removes nothing.
 *
 * An account is left as it is, with the reason, when its newest snapshot is suspect, when a run
 * after it has not finished, or when a manifest cannot be read: what such a snapshot refers to is
 * not known.
 */
export async function* planPrune(
  store: ObjectStore,
  policy: RetentionPolicy,
  options: { now: Date; accountId?: number | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<AccountPrunePlan> {
  for await (const account of listAccounts(store, options)) {
    yield await planAccount(store, account, policy, options)
  }
}

async function planAccount(
  store: ObjectStore,
  { accountId, folders }: { accountId: number; folders: readonly SnapshotFolder[] },
  policy: RetentionPolicy,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountPrunePlan> {
  const complete = folders.filter((folder) => folder.complete)
  const pins = await listPins(store, accountId, { signal })
  const read = await pMap(complete, (folder) => readCandidate(store, folder, pins, { signal }), {
    concurrency: READS_AT_ONCE,
  })
  const unreadable = read.find((candidate) => candidate instanceof ManifestError)
  const candidates = read.flatMap((one) => (one instanceof ManifestError ? [] : one))
  const refusal = unreadable?.message ?? findRefusal(folders, candidates)
  const decisions = planRetention(candidates, policy, { now })
  // A folder that lost its manifest may still hold files that others share.
  const shared = new Set(candidates.map(({ sameAs }) => sameAs))
  const leftovers = folders.filter(
    (folder) => !unreadable && isLeftover(folder, now) && !shared.has(folder.snapshot),
  )
  return { accountId, refusal, decisions, leftovers }
}

function isLeftover({ complete, takenAt, files }: SnapshotFolder, now: Date): boolean {
  const old = (time: Date) => now.getTime() - time.getTime() > SWEEP_AFTER_MS
  return !complete && old(takenAt) && [...files.values()].every(({ modifiedAt }) => old(modifiedAt))
}

async function readCandidate(
  store: ObjectStore,
  folder: SnapshotFolder,
  pins: ReadonlySet<string>,
  options: { signal?: AbortSignal | undefined },
): Promise<PruneCandidate | ManifestError> {
  const { accountId, snapshot, takenAt } = folder
  const stored = await tryReadManifest(store, accountId, snapshot, options)
  if (stored instanceof ManifestError) return stored
  const { suspect, sameAs } = stored.manifest
  const pinned = pins.has(snapshot)
  return { snapshot, takenAt, suspect: suspect !== undefined, sameAs, pinned, folder }
}

function findRefusal(
  folders: readonly SnapshotFolder[],
  candidates: readonly PruneCandidate[],
): string | undefined {
  if (candidates.at(-1)?.suspect) return 'the newest snapshot is suspect'
  const last = folders.at(-1)
  if (last?.complete === false) return `the run of ${last.snapshot} has not finished`
  return undefined
}

/** What removing one folder came to. */
export interface Removal {
  readonly accountId: number
  readonly snapshot: string
  /** Why it is still there, when it is. */
  readonly error: Error | undefined
}

/**
 * Does what a plan says: the manifest first, then the files, so that a snapshot is there completely
 * or not at all at every moment. Snapshots that share files go before the one that holds them.
 * What is already gone is passed over, so that a plan can be carried out twice.
 */
export async function* applyPrune(
  store: ObjectStore,
  plan: AccountPrunePlan,
  options: { signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Removal> {
  const refused = plan.refusal !== undefined
  const removed = refused ? [] : plan.decisions.filter(({ keep }) => !keep)
  const folders = [...removed.map(({ candidate }) => candidate.folder), ...plan.leftovers]
  for (const folder of folders) {
    options.signal?.throwIfAborted()
    const { accountId, snapshot } = folder
    yield { accountId, snapshot, error: await removeFolder(store, folder, options) }
  }
}

async function removeFolder(
  store: ObjectStore,
  { files }: SnapshotFolder,
  options: { signal?: AbortSignal | undefined },
): Promise<Error | undefined> {
  const manifest = files.get(manifestName)
  const others = [...files.values()].filter((file) => file !== manifest)
  try {
    for (const file of manifest ? [manifest, ...others] : others) {
      await store.remove(file.key, options)
    }
    return undefined
  } catch (error) {
    options.signal?.throwIfAborted()
    return error as Error
  }
}
