import pMap, { pMapIterable } from 'p-map'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore, StoredObject } from '../store/object-store.ts'
import {
  hasManifest,
  listAccounts,
  manifestName,
  type SnapshotFolder,
  tryReadManifest,
} from './archive.ts'
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

/** Snapshots removed at once; each takes a few requests. */
const REMOVALS_AT_ONCE = 8

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
  // The newest folder may belong to a run that goes on, whatever a clock says.
  const leftovers = folders
    .slice(0, -1)
    .filter((folder) => !unreadable && isLeftover(folder, now) && !shared.has(folder.snapshot))
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
  /** Why it is still there, when it should not be. */
  readonly error?: Error | undefined
  /** Until when a lock keeps it, or a locked snapshot that shares its files; nothing was tried. */
  readonly keptUntil?: Date | undefined
}

/**
 * Does what a plan says: the manifest first, then the files, so that a snapshot is there completely
 * or not at all at every moment. Snapshots that share files go before the one that holds them,
 * which stays when one of them does. A folder with a locked file is left as it is. What is already
 * gone is passed over, so that a plan can be carried out twice.
 */
export async function* applyPrune(
  store: ObjectStore,
  plan: AccountPrunePlan,
  options: { now: Date; signal?: AbortSignal | undefined },
): AsyncGenerator<Removal> {
  const removed = plan.refusal === undefined ? plan.decisions.filter(({ keep }) => !keep) : []
  const leftovers = plan.leftovers.map((folder) => ({ folder, sameAs: undefined }))
  const all = [...removed.map(({ candidate }) => candidate), ...leftovers]
  const sharers = all.filter(({ sameAs }) => sameAs !== undefined)
  const others = all.filter(({ sameAs }) => sameAs === undefined)
  /** By holder of files: a snapshot that shares them and is still there. */
  const needed = new Map<string, Removal>()
  const remove = async ({ folder }: { folder: SnapshotFolder }): Promise<Removal> => {
    options.signal?.throwIfAborted()
    const { accountId, snapshot } = folder
    const sharer = needed.get(snapshot)
    const outcome = sharer ? keptFor(sharer) : await removeFolder(store, folder, options)
    return { accountId, snapshot, ...outcome }
  }
  const concurrency = REMOVALS_AT_ONCE
  for (const [place, removal] of (await pMap(sharers, remove, { concurrency })).entries()) {
    const sameAs = sharers[place]?.sameAs
    const stays = removal.error !== undefined || removal.keptUntil !== undefined
    if (stays && sameAs !== undefined) needed.set(sameAs, removal)
    yield removal
  }
  yield* pMapIterable(others, remove, { concurrency })
}

/** Why the holder of files stays when a snapshot that shares them does. */
function keptFor({ snapshot, error, keptUntil }: Removal): Partial<Removal> {
  if (error === undefined) return { keptUntil }
  const message = `Cannot remove the snapshot: ${snapshot} shares its files and could not be removed`
  return { error: new DashkeepError(message, { cause: error }) }
}

async function removeFolder(
  store: ObjectStore,
  folder: SnapshotFolder,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<Partial<Removal>> {
  const { files } = folder
  const manifest = files.get(manifestName)
  const others = [...files.values()].filter((file) => file !== manifest)
  const inOrder = manifest ? [manifest, ...others] : others
  try {
    const keptUntil = await findLock(store, inOrder, options)
    if (keptUntil !== undefined) return { keptUntil }
    if (manifest) await store.remove(manifest.key, options)
    if (await hasManifest(store, folder, options)) throw stillThere(folder)
    for (const { key } of others) await store.remove(key, options)
    return {}
  } catch (error) {
    options.signal?.throwIfAborted()
    return { error: error as Error }
  }
}

/** A run has finished since the plan was made, or the store has not removed what it said it did. */
function stillThere({ accountId, snapshot }: SnapshotFolder): DashkeepError {
  return new DashkeepError(
    `Cannot remove the files of snapshot ${snapshot} of account ${accountId}: its manifest is there`,
    { hint: 'plan again; if this stays so, the store does not remove what it says it has removed' },
  )
}

/** The moment at which the last of the locks that are not over yet ends. */
async function findLock(
  store: ObjectStore,
  files: readonly StoredObject[],
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<Date | undefined> {
  const ask = async ({ key }: StoredObject) => store.lockedUntil?.(key, { signal })
  const ends = await pMap(files, ask, { concurrency: READS_AT_ONCE })
  const times = ends.map((end) => end?.getTime() ?? 0)
  const last = Math.max(0, ...times)
  return last > now.getTime() ? new Date(last) : undefined
}
