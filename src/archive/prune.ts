import pMap from 'p-map'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore, StoredObject } from '../store/object-store.ts'
import {
  listAccounts,
  listFolders,
  manifestName,
  readManifest,
  type SnapshotFolder,
  sizeOf,
  tryReadManifest,
} from './archive.ts'
import { splitByTime } from './future.ts'
import { findListedDefect } from './listed-files.ts'
import { holderOf, type Manifest, ManifestError } from './manifest.ts'
import { listPins } from './pins.ts'
import {
  planRemoval,
  planRetention,
  type RetentionCandidate,
  type RetentionDecision,
  type RetentionPolicy,
} from './retention.ts'
import { isOld } from './sweep.ts'

/** Manifests read at once while planning. */
const READS_AT_ONCE = 16

/** Snapshots removed at once. Each needs a few requests. */
const REMOVALS_AT_ONCE = 8

/** A snapshot with its files. */
interface PruneCandidate extends RetentionCandidate {
  readonly folder: SnapshotFolder
}

/** Names of snapshots to remove, regardless of the retention. */
export interface NamedRemoval {
  readonly named: ReadonlySet<string>
}

/** What to remove of one account, and why. The plan itself changes nothing. */
export interface AccountPrunePlan {
  readonly accountId: number
  /** Why retention removes nothing of this account now; undefined when it may. */
  readonly refusal: string | undefined
  readonly decisions: readonly RetentionDecision<PruneCandidate>[]
  /** Folders without a manifest that are too old to belong to a run in progress. */
  readonly leftovers: readonly SnapshotFolder[]
}

/**
 * Plans for each account what to remove. Reads one listing and the manifests. Removes nothing.
 *
 * Nothing of an account is removed when its newest snapshot is suspect or damaged, when a later run has
 * not finished, or when a manifest cannot be read: it may refer to files of other snapshots. A snapshot
 * from the future is never the newest.
 *
 * With names instead of a policy, only accounts with one of these names are planned, no leftovers are
 * removed, and only a manifest that cannot be read prevents the removal.
 */
export async function* planPrune(
  store: ObjectStore,
  wanted: RetentionPolicy | NamedRemoval,
  options: { now: Date; accountId?: number | undefined; signal?: AbortSignal | undefined },
): AsyncGenerator<AccountPrunePlan> {
  for await (const account of listAccounts(store, options)) {
    if (isConcerned(account, wanted)) yield await planAccount(store, account, wanted, options)
  }
}

function isConcerned(
  { folders }: { folders: readonly SnapshotFolder[] },
  wanted: RetentionPolicy | NamedRemoval,
): boolean {
  if (!('named' in wanted)) return true
  return folders.some(({ complete, snapshot }) => complete && wanted.named.has(snapshot))
}

async function planAccount(
  store: ObjectStore,
  { accountId, folders }: { accountId: number; folders: readonly SnapshotFolder[] },
  wanted: RetentionPolicy | NamedRemoval,
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<AccountPrunePlan> {
  const complete = folders.filter((folder) => folder.complete)
  const pins = await listPins(store, accountId, { signal })
  const facts = { pins, folders: new Map(folders.map((folder) => [folder.snapshot, folder])) }
  const read = await pMap(complete, (folder) => readCandidate(store, folder, facts, { signal }), {
    concurrency: READS_AT_ONCE,
  })
  const unreadable = read.find((candidate) => candidate instanceof ManifestError)
  const candidates = read.flatMap((one) => (one instanceof ManifestError ? [] : one))
  if ('named' in wanted) {
    const decisions = planRemoval(candidates, wanted.named, { now })
    return { accountId, refusal: unreadable?.message, decisions, leftovers: [] }
  }
  const { past } = splitByTime(folders, now)
  const refusal = unreadable?.message ?? findRefusal(past, splitByTime(candidates, now).past)
  const decisions = planRetention(candidates, wanted, { now })
  // A folder that lost its manifest may still have files that others share.
  const shared = new Set(candidates.map(({ sameAs }) => sameAs))
  // The newest folder may belong to a run in progress, even if a clock is wrong.
  const spared = new Set([folders.at(-1), past.at(-1)])
  const leftovers = folders
    .filter((folder) => !spared.has(folder))
    .filter((folder) => !unreadable && isLeftover(folder, now) && !shared.has(folder.snapshot))
  return { accountId, refusal, decisions, leftovers }
}

function isLeftover({ complete, takenAt, files }: SnapshotFolder, now: Date): boolean {
  if (complete || !isOld(takenAt, now)) return false
  return [...files.values()].every(({ modifiedAt }) => isOld(modifiedAt, now))
}

async function readCandidate(
  store: ObjectStore,
  folder: SnapshotFolder,
  { pins, folders }: { pins: ReadonlySet<string>; folders: ReadonlyMap<string, SnapshotFolder> },
  options: { signal?: AbortSignal | undefined },
): Promise<PruneCandidate | ManifestError> {
  const { accountId, snapshot } = folder
  const stored = await tryReadManifest(store, accountId, snapshot, options)
  if (stored instanceof ManifestError) return stored
  const { manifest } = stored
  const defect = findListedDefect(manifest, folders.get(holderOf(manifest))?.files)
  const suspect = manifest.suspect !== undefined || defect !== undefined
  return { ...toCandidate(manifest, folder, { suspect, pins }), folder }
}

/** The facts of a snapshot for retention. `suspect` is also true when its files are damaged. */
export function toCandidate(
  { sameAs, exports }: Manifest,
  { snapshot, takenAt }: SnapshotFolder,
  { suspect, pins }: { suspect: boolean; pins: ReadonlySet<string> },
): RetentionCandidate {
  const types = exports.map(({ type }) => type)
  return { snapshot, takenAt, suspect, sameAs, pinned: pins.has(snapshot), types }
}

function findRefusal(
  folders: readonly SnapshotFolder[],
  candidates: readonly PruneCandidate[],
): string | undefined {
  if (candidates.at(-1)?.suspect) return 'the newest snapshot is suspect or damaged'
  const last = folders.at(-1)
  if (last?.complete === false) return `the run of ${last.snapshot} has not finished`
  return undefined
}

/** The decisions of a plan that remove something. */
function removedBy({ refusal, decisions }: AccountPrunePlan): RetentionDecision<PruneCandidate>[] {
  return refusal === undefined ? decisions.filter(({ keep }) => !keep) : []
}

/** The folders that a plan removes. */
export function foldersToRemove(plan: AccountPrunePlan): SnapshotFolder[] {
  return [...removedBy(plan).map(({ candidate }) => candidate.folder), ...plan.leftovers]
}

/** Result of the removal of one folder. */
export interface Removal {
  readonly accountId: number
  readonly snapshot: string
  /** Size of its files. */
  readonly bytes: number
  /** Why it could not be removed. */
  readonly error?: Error | undefined
  /** End of the lock on it, or on a snapshot that shares its files. Its removal was not tried. */
  readonly keptUntil?: Date | undefined
}

interface RemovalOptions {
  readonly now: Date
  readonly signal?: AbortSignal | undefined
}

/**
 * Carries out a plan. Removes the manifest of a snapshot first, then its files, so that a snapshot is
 * always complete or does not exist. Snapshots that share files are removed before the one that has the
 * files. If one of them cannot be removed, that one stays too. A folder with a locked file stays
 * complete. Ignores what no longer exists, so a plan can be carried out twice.
 *
 * Before it removes files, it lists the account again. Files stay if their manifest still exists, or if
 * a run has begun to share them since the plan was made. A run checks in the opposite order: it writes
 * its manifest, then checks the shared files. So one of the two always sees the other, even with wrong
 * clocks.
 */
export async function* applyPrune(
  store: ObjectStore,
  plan: AccountPrunePlan,
  options: RemovalOptions,
): AsyncGenerator<Removal> {
  const removed = removedBy(plan)
  const sharers = removed.filter(({ candidate }) => candidate.sameAs !== undefined)
  const holders = removed.filter(({ candidate }) => candidate.sameAs === undefined)
  /** By the snapshot that has the files: a snapshot that shares them and was not removed. */
  const needed = new Map<string, Removal>()
  const folders = sharers.map(({ candidate }) => candidate.folder)
  const removals = await removeAll(store, plan, folders, needed, options)
  for (const [index, removal] of removals.entries()) {
    const sameAs = sharers[index]?.candidate.sameAs
    if (remains(removal) && sameAs !== undefined) needed.set(sameAs, removal)
    yield removal
  }
  const others = [...holders.map(({ candidate }) => candidate.folder), ...plan.leftovers]
  yield* await removeAll(store, plan, others, needed, options)
}

async function removeAll(
  store: ObjectStore,
  plan: AccountPrunePlan,
  folders: readonly SnapshotFolder[],
  needed: ReadonlyMap<string, Removal>,
  options: RemovalOptions,
): Promise<Removal[]> {
  if (folders.length === 0) return []
  const concurrency = REMOVALS_AT_ONCE
  const begun = await pMap(
    folders,
    async (folder) => {
      const sharer = needed.get(folder.snapshot)
      const outcome = sharer ? keptFor(sharer) : await removeManifest(store, folder, options)
      return { folder, removal: { ...nameOf(folder), ...outcome } }
    },
    { concurrency },
  )
  const obstacles = await findObstacles(store, plan, options)
  return pMap(
    begun,
    async ({ folder, removal }) => {
      if (remains(removal)) return removal
      const error = obstacles.get(folder.snapshot)
      return { ...removal, ...(error ? { error } : await removeFiles(store, folder, options)) }
    },
    { concurrency },
  )
}

function nameOf(folder: SnapshotFolder): Removal {
  const { accountId, snapshot } = folder
  return { accountId, snapshot, bytes: sizeOf(folder) }
}

/** Whether the snapshot still exists after the attempt to remove it. */
function remains({ error, keptUntil }: Removal): boolean {
  return error !== undefined || keptUntil !== undefined
}

/** Why a snapshot stays whose files another remaining snapshot shares. */
function keptFor({ snapshot, error, keptUntil }: Removal): Partial<Removal> {
  if (error === undefined) return { keptUntil }
  const message = `Cannot remove the snapshot: ${snapshot} shares its files and could not be removed`
  return { error: new DashkeepError(message, { cause: error }) }
}

/** Why files must stay, by snapshot, according to a new listing. */
async function findObstacles(
  store: ObjectStore,
  { accountId, decisions }: AccountPrunePlan,
  { signal }: RemovalOptions,
): Promise<Map<string, DashkeepError>> {
  const planned = new Set(decisions.map(({ candidate }) => candidate.snapshot))
  const obstacles = new Map<string, DashkeepError>()
  for await (const { snapshot, complete } of listFolders(store, { accountId, signal })) {
    if (!complete) continue
    obstacles.set(snapshot, cannotRemoveFiles(snapshot, 'its manifest is there'))
    if (planned.has(snapshot)) continue
    const { manifest } = await readManifest(store, accountId, snapshot, { signal })
    const { sameAs } = manifest
    if (sameAs) obstacles.set(sameAs, cannotRemoveFiles(sameAs, `${snapshot} now shares them`))
  }
  return obstacles
}

function cannotRemoveFiles(snapshot: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot remove the files of snapshot ${snapshot}: ${state}`, {
    hint: 'run the command again; if the error stays, the store confirms removals that it does not make',
  })
}

async function removeManifest(
  store: ObjectStore,
  { files }: SnapshotFolder,
  options: RemovalOptions,
): Promise<Partial<Removal>> {
  const manifest = files.get(manifestName)
  return attempt(options, async () => {
    const keptUntil = await findLock(store, [...files.values()], options)
    if (keptUntil !== undefined) return { keptUntil }
    if (manifest) await store.remove(manifest.key, options)
    return {}
  })
}

async function removeFiles(
  store: ObjectStore,
  { files }: SnapshotFolder,
  options: RemovalOptions,
): Promise<Partial<Removal>> {
  return attempt(options, async () => {
    const others = [...files].filter(([name]) => name !== manifestName)
    for (const [, { key }] of others) await store.remove(key, options)
    return {}
  })
}

/** Returns the failure of one folder as a result. Throws an interruption. */
async function attempt(
  { signal }: RemovalOptions,
  step: () => Promise<Partial<Removal>>,
): Promise<Partial<Removal>> {
  try {
    signal?.throwIfAborted()
    return await step()
  } catch (error) {
    signal?.throwIfAborted()
    return { error: error as Error }
  }
}

/** The end of the last lock on these files; undefined when no lock is in force. */
async function findLock(
  store: ObjectStore,
  files: readonly StoredObject[],
  { now, signal }: RemovalOptions,
): Promise<Date | undefined> {
  const ask = async ({ key }: StoredObject) => store.lockedUntil?.(key, { signal })
  const ends = await pMap(files, ask, { concurrency: READS_AT_ONCE })
  const times = ends.map((end) => end?.getTime() ?? 0)
  const last = Math.max(0, ...times)
  return last > now.getTime() ? new Date(last) : undefined
}
