import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import pRetry, { AbortError } from 'p-retry'
import { type Compression, dataFileName } from '../datafile/compression.ts'
import {
  createDataFile,
  type DataFile,
  type DataFileWriter,
  proveStoredBytes,
} from '../datafile/data-file.ts'
import type { Opener, Sealer } from '../datafile/encryption.ts'
import { DashkeepError } from '../errors.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import { createExportScan, type ExportContent, type ExportScan } from '../export/scan-export.ts'
import type { ObjectMetadata, ObjectStore } from '../store/object-store.ts'
import { version } from '../version.ts'
import {
  encodeReadable,
  fileKey,
  hasManifest,
  manifestName,
  type StoredManifest,
} from './archive.ts'
import { type ChangeFinder, compareWithPrevious, type TypeChanges } from './changes.ts'
import { checkClock } from './clock-check.ts'
import { judgeExports, type MissingObjects, type Verdict } from './judge.ts'
import { formatVersion, type Manifest, type ManifestExport, maxManifestBytes } from './manifest.ts'
import { checkOrigin } from './origin.ts'
import { findPrevious, type Previous } from './previous.ts'
import { proveExport } from './prove-export.ts'
import { prepareSharing, type Sharing, warnOfDamage } from './sharing.ts'
import { createSnapshotName, snapshotTime } from './snapshot-name.ts'
import type { Account, SavedObjectSource } from './source.ts'

export interface TakeOptions {
  /** When the snapshot counts as taken; it names the snapshot. */
  readonly takenAt: Date
  /** Types to export, in this order, one after the other. */
  readonly types: readonly string[]
  /** The account the token must belong to; any when undefined. */
  readonly expectedAccountId?: number | undefined
  /** What the configuration calls the account; the manifest records it. */
  readonly configuredAs?: string | undefined
  /** Other configured accounts that may be the same one; see `Origin`. */
  readonly unsettled?: ReadonlySet<string> | undefined
  /** Take the snapshot although the newest one is of another service. */
  readonly acceptService?: boolean | undefined
  readonly compression?: Compression | undefined
  /** Encrypts the files; they lie in the clear without it. */
  readonly sealer?: Sealer | undefined
  /** Reads encrypted files, so that changes against them can be named. A run needs none. */
  readonly opener?: Opener | undefined
  /** Files up to this size in total are proven in each run that shares them. */
  readonly proveEachRunBytes?: number | undefined
  /** Store the files also when nothing changed. */
  readonly full?: boolean | undefined
  /** Part of a type's objects (0 to 1) that may vanish before the snapshot is suspect. */
  readonly maxFall?: number | undefined
  /** Length of the window within which the highest number of objects counts. */
  readonly windowMs?: number | undefined
  /** Somebody has looked: take the snapshot as good although objects are missing or hollow. */
  readonly acceptFall?: boolean | undefined
  /** Largest difference to the service's clock before the run is refused; any when undefined. */
  readonly maxClockSkewMs?: number | undefined
  /** How often one export is begun before it counts as failed. */
  readonly exportAttempts?: number | undefined
  /** Wait before an export is begun a second time; doubles each time, with a random part. */
  readonly retryBaseMs?: number | undefined
  readonly scanLimits?: ScanLimits | undefined
  readonly signal?: AbortSignal | undefined
  /** The clock that `takenAt` was read from. */
  readonly now?: (() => Date) | undefined
  readonly onProgress?: ((progress: TakeProgress) => void) | undefined
}

/** A step of a run, for progress bars and logs. */
export type TakeProgress =
  | { readonly step: 'account'; readonly account: Account }
  | {
      readonly step: 'receiving'
      readonly type: string
      readonly bytes: number
      readonly objects: number
    }
  | { readonly step: 'broken-off'; readonly type: string; readonly error: Error }
  | { readonly step: 'exported'; readonly export: ManifestExport }
  | { readonly step: 'stored'; readonly file: DataFile }

/** A snapshot that is in the archive, complete and read back. */
export interface TakenSnapshot {
  readonly manifest: Manifest
  /** By type; undefined for a first snapshot and empty when nothing changed. */
  readonly changes: readonly TypeChanges[] | undefined
  /** What was found wrong with earlier snapshots; the new one is complete all the same. */
  readonly warnings: readonly string[]
  /** By type: objects of the last good snapshot that a suspect one lacks, as far as can be read. */
  readonly missing: readonly MissingObjects[]
  /** Whether it is good and the one before it was suspect. */
  readonly recovered: boolean
}

/** Whether somebody should look: it is suspect, or something earlier is damaged. */
export function isDoubtful({ manifest, warnings }: TakenSnapshot): boolean {
  return manifest.suspect !== undefined || warnings.length > 0
}

/**
 * A run that takes longer than this stores its files in any case. `prune` keeps whatever was the
 * newest snapshot within the last hour, so that what a run refers to is there until it is done.
 */
const maxSharingMs = 30 * 60_000

/**
 * After so many bytes others have their turn. By itself Node reads a socket 32 times over while it
 * has data, and the threads that compress would wait for a word that long; on one processor they
 * have nothing to wait for.
 */
const TURN_BYTES = availableParallelism() > 1 ? 256 * 1024 : Number.POSITIVE_INFINITY

/** An export that has arrived whole and waits to be stored. */
interface PendingExport {
  readonly entry: ManifestExport
  readonly content: ExportContent
  readonly writer: DataFileWriter
}

/** One snapshot in the making: what every step below needs. */
interface Run extends TakeOptions {
  readonly source: SavedObjectSource
  readonly store: ObjectStore
  readonly account: Account
  readonly snapshot: string
}

/**
 * Copies every saved object of one account into a new snapshot.
 *
 * The manifest is written last: a snapshot exists only once its manifest does, so a run that dies
 * halfway leaves files for `prune` to sweep, never a snapshot that lies about being complete.
 * Nothing is stored before every type has arrived whole; when one fails the others are still
 * tried, so that the error names all that is wrong. What was stored is read back and compared.
 */
export async function takeSnapshot(
  source: SavedObjectSource,
  store: ObjectStore,
  options: TakeOptions,
): Promise<TakenSnapshot> {
  const account = await identify(source, options)
  const { accountId } = account
  const begun = performance.now()
  const previous = await findPrevious(store, accountId, options.takenAt, options)
  const origin = { ...options, accountId, address: source.address }
  checkOrigin(previous.newest?.manifest, origin, options)
  const newest = previous.newest?.manifest.snapshot
  const takenAt = notBefore(options.takenAt, newest)
  const snapshot = createSnapshotName(takenAt, newest)
  const run: Run = { ...options, takenAt, source, store, account, snapshot }
  await using pending = await exportAll(run)
  refuseWrongClock(source, account, options)
  const { exports } = pending
  // Before anything is stored: what no reader could use would leave its files behind.
  encodeReadable(composeManifest(run, exports, previous, { changes: [], reasons: [] }))
  const sharing = await prepareUnchanged(run, exports, previous)
  const provenAt = performance.now() - begun < maxSharingMs ? sharing.provenAt : undefined
  const stored = provenAt
    ? { changes: exports.map(({ entry }) => noChanges(entry.type)), warnings: [] }
    : await storeAll(run, exports, previous.newest)
  const verdict = await judge(run, exports, previous, stored.changes)
  const manifest = composeManifest(run, exports, previous, { ...stored, ...verdict })
  const final = provenAt ? pointBack(manifest, previous.newest, provenAt) : manifest
  await commitManifest(run, final)
  await confirmShared(run, final)
  return {
    manifest: final,
    changes: previous.newest && stored.changes,
    warnings: [...previous.warnings, ...sharing.warnings, ...stored.warnings, ...verdict.warnings],
    missing: verdict.missing,
    recovered: final.suspect === undefined && previous.newest?.manifest.suspect !== undefined,
  }
}

/**
 * The time of a new snapshot: never before the second of the newest. Where two clocks differ by less
 * than the tolerance for snapshots from the future, the later run still gets the later name.
 */
function notBefore(takenAt: Date, newest: string | undefined): Date {
  const last = newest === undefined ? undefined : snapshotTime(newest)
  return last !== undefined && last > takenAt ? last : takenAt
}

async function identify(source: SavedObjectSource, options: TakeOptions): Promise<Account> {
  const account = await source.whoami({ signal: options.signal })
  const { accountId, accountName } = account
  const expected = options.expectedAccountId
  if (expected !== undefined && accountId !== expected) {
    throw new DashkeepError(
      `Cannot back up account ${expected}: the token belongs to account ${accountId} (${accountName})`,
      {
        kind: 'usage',
        hint: 'use a token of the expected account, or correct the expected account id',
      },
    )
  }
  options.onProgress?.({ step: 'account', account })
  refuseWrongClock(source, account, options)
  return account
}

/** Asked before the exports and once they have arrived, by when every answer has told the time. */
function refuseWrongClock(
  { clockSkewMs: skewMs }: SavedObjectSource,
  account: Account,
  { takenAt, now = () => new Date(), maxClockSkewMs }: TakeOptions,
): void {
  if (maxClockSkewMs === undefined) return
  checkClock(account, { takenAt, now: now(), skewMs }, maxClockSkewMs)
}

/** Receives every type in turn. Disposing drops whatever has not been stored by then. */
async function exportAll(run: Run): Promise<{ exports: PendingExport[] } & AsyncDisposable> {
  const exports: PendingExport[] = []
  const failures: Error[] = []
  const dispose = async () => {
    for (const { writer } of exports) await writer[Symbol.asyncDispose]()
  }
  for (const type of run.types) {
    try {
      exports.push(await exportWithRetries(run, type))
    } catch (error) {
      failures.push(error as Error)
      if (run.signal?.aborted) break
    }
  }
  if (failures.length > 0) {
    await dispose()
    run.signal?.throwIfAborted()
    throw combine(run, failures)
  }
  return { exports, [Symbol.asyncDispose]: dispose }
}

function combine({ account, types }: Run, failures: readonly Error[]): Error {
  const [first] = failures
  if (failures.length === 1 && first !== undefined) return first
  const explained = failures.filter((error) => error instanceof DashkeepError)
  const hints = explained.flatMap(({ hint }) => hint?.replace(/\.$/, '') ?? [])
  const kinds = new Set(failures.map((error) => (error as Partial<DashkeepError>).kind))
  return new DashkeepError(
    `Cannot back up account ${account.accountId}: ${failures.length} of ${types.length} exports failed: ${failures.map(({ message }) => message).join('; ')}`,
    {
      // A store that cannot be written is as wrong for three types as for one.
      kind: (kinds.size === 1 && [...kinds][0]) || 'failed',
      hint: [...new Set(hints)].join('; '),
      cause: first,
    },
  )
}

/**
 * An export whose body breaks off is begun again; nothing of the first attempt is kept. A request
 * that fails before its body has been repeated by the source already.
 */
async function exportWithRetries(run: Run, type: string): Promise<PendingExport> {
  const attempt = async () => {
    const body = await run.source.exportObjects(type, { signal: run.signal }).catch((error) => {
      throw new AbortError(error)
    })
    return receiveExport(run, type, body)
  }
  return pRetry(attempt, {
    retries: (run.exportAttempts ?? 3) - 1,
    minTimeout: run.retryBaseMs ?? 500,
    randomize: true,
    ...(run.signal && { signal: run.signal }),
    shouldRetry: ({ error }) => error instanceof DashkeepError && error.transient,
    onFailedAttempt: ({ error, retriesLeft }) => {
      const again = error instanceof DashkeepError && error.transient && retriesLeft > 0
      if (again) run.onProgress?.({ step: 'broken-off', type, error })
    },
  })
}

async function receiveExport(
  run: Run,
  type: string,
  body: AsyncIterable<Uint8Array>,
): Promise<PendingExport> {
  const { account, compression = 'zstd', sealer, signal } = run
  const scan = createExportScan(type, {
    limits: run.scanLimits,
    onMembers: (members) => run.source.checkMembers(type, members),
  })
  const metadata = () => {
    const kibanaVersion = scan.kibanaVersion()
    return { ...runMetadata(run), ...(kibanaVersion && { 'kibana-version': kibanaVersion }), type }
  }
  const name = dataFileName(type, compression, { encrypted: sealer !== undefined })
  const key = fileKey(account.accountId, run.snapshot, name)
  const options = { compression, sealer, metadata, lockFrom: run.takenAt, signal }
  const writer = await createDataFile(run.store, key, options)
  try {
    await transfer(run, type, body, { scan, writer })
    // In this order, so that the room for compressing is free again when the index is sorted.
    const file = await writer.finish()
    const content = scan.end()
    const exportedAt = (run.now?.() ?? new Date()).toISOString()
    const { index, sizes, ...found } = content
    const { contentDigest } = index
    const idSample = index.sampleIds()
    const medianBytes = sizes.median()
    const entry = { type, exportedAt, ...found, medianBytes, contentDigest, idSample, file }
    run.onProgress?.({ step: 'exported', export: entry })
    // p-retry drops a result that comes after an abort; its writer would never be disposed of.
    signal?.throwIfAborted()
    return { entry, content, writer }
  } catch (error) {
    await writer[Symbol.asyncDispose]()
    throw error
  }
}

function runMetadata({ takenAt, account }: Run): ObjectMetadata {
  return { 'taken-at': takenAt.toISOString(), 'account-id': String(account.accountId) }
}

async function transfer(
  { onProgress }: Run,
  type: string,
  body: AsyncIterable<Uint8Array>,
  { scan, writer }: { scan: ExportScan; writer: DataFileWriter },
): Promise<void> {
  let bytes = 0
  let sinceTurn = 0
  for await (const chunk of body) {
    await writer.write(chunk)
    scan.feed(chunk)
    bytes += chunk.length
    sinceTurn += chunk.length
    if (sinceTurn >= TURN_BYTES) {
      sinceTurn = 0
      await setImmediate()
    }
    onProgress?.({ step: 'receiving', type, bytes, objects: scan.objects() })
  }
}

/** Prepares the previous files for being shared, when the new exports hold the same objects. */
async function prepareUnchanged(
  run: Run,
  exports: readonly PendingExport[],
  { newest, filesSound }: Previous,
): Promise<Sharing> {
  const entries = exports.map(({ entry }) => entry)
  const unchanged = newest !== undefined && filesSound && isUnchanged(entries, newest.manifest)
  if (run.full || !unchanged) return { warnings: [] }
  return prepareSharing(run.store, newest.manifest, run)
}

/**
 * Whether every type holds the very objects of the previous snapshot. The documents must come from
 * the same kibanaVersion too, since a restore depends on it, and be encrypted for the same
 * recipients.
 */
function isUnchanged(entries: readonly ManifestExport[], previous: Manifest): boolean {
  if (previous.exports.length !== entries.length) return false
  return entries.every((entry) =>
    previous.exports.some(
      (other) =>
        other.type === entry.type &&
        other.contentDigest === entry.contentDigest &&
        other.kibanaVersion === entry.kibanaVersion &&
        isDeepStrictEqual(other.file.encryption, entry.file.encryption),
    ),
  )
}

function noChanges(type: string): TypeChanges {
  const counts = { added: 0, removed: 0, changed: 0 }
  return { type, counts, added: [], removed: [], changed: [] }
}

/** What storing one export has shown. */
interface StoredExport {
  readonly changes?: TypeChanges | undefined
  readonly warning?: string | undefined
}

/** Makes the files visible, all at once, and reads each back. Returns when nothing is under way. */
async function storeAll(
  run: Run,
  exports: readonly PendingExport[],
  newest: StoredManifest | undefined,
): Promise<{ changes: TypeChanges[]; warnings: string[] }> {
  const stored = await Promise.allSettled(exports.map((one) => storeExport(run, one, newest)))
  const results = stored.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  return {
    changes: results.flatMap(({ changes }) => changes ?? []),
    warnings: results.flatMap(({ warning }) => warning ?? []),
  }
}

async function storeExport(
  run: Run,
  pending: PendingExport,
  newest: StoredManifest | undefined,
): Promise<StoredExport> {
  const { entry, writer } = pending
  const { finder, defect, same } = await findChanges(run, pending, newest)
  await writer.commit()
  await readBack(run, entry, finder)
  run.onProgress?.({ step: 'stored', file: entry.file })
  return {
    changes: same ? noChanges(entry.type) : finder?.finish(),
    warning: defect && warnOfDamage(defect),
  }
}

async function findChanges(
  { store, signal, scanLimits, opener }: Run,
  { entry, content }: PendingExport,
  newest: StoredManifest | undefined,
): Promise<{ finder?: ChangeFinder; defect?: string; same?: boolean }> {
  const before = newest?.manifest.exports.find((other) => other.type === entry.type)
  if (newest === undefined || before === undefined) return {}
  if (before.contentDigest === entry.contentDigest) return { same: true }
  const previous = { manifest: newest.manifest, entry: before }
  const options = { signal, opener, limits: scanLimits }
  return compareWithPrevious(store, previous, content.index, options)
}

/** Compares what the store returns with what it was given, which has been proven to decompress. */
async function readBack(run: Run, entry: ManifestExport, finder?: ChangeFinder): Promise<void> {
  const { store, signal, opener, scanLimits: limits } = run
  const key = fileKey(run.account.accountId, run.snapshot, entry.file.name)
  const { defect } = finder
    ? await proveExport(store, key, entry, { signal, opener, limits, onObject: finder.see })
    : { defect: (await proveStoredBytes(store, key, entry.file, { signal }))?.detail }
  if (defect !== undefined) throw notStored(key, defect)
}

/** Whether the snapshot can be trusted, against the last good one and not the newest. */
function judge(
  run: Run,
  exports: readonly PendingExport[],
  { newest, lastGood, doubt }: Previous,
  changes: readonly TypeChanges[],
): Promise<Verdict> {
  const isNewest = newest !== undefined && newest.manifest.snapshot === lastGood?.snapshot
  const yardstick = { lastGood, doubt, changes: isNewest ? changes : undefined }
  return judgeExports(run.store, exports, yardstick, { ...run, limits: run.scanLimits })
}

function composeManifest(
  { account, configuredAs, snapshot, takenAt, source, acceptFall }: Run,
  exports: readonly PendingExport[],
  { newest, lastGood, doubt }: Previous,
  found: {
    changes: readonly TypeChanges[]
    reasons: readonly string[]
    memory?: Manifest['memory']
  },
): Manifest {
  const { changes, reasons, memory } = found
  return {
    formatVersion,
    snapshot,
    takenAt: takenAt.toISOString(),
    account: {
      id: account.accountId,
      name: account.accountName,
      ...(configuredAs !== undefined && { configuredAs }),
    },
    service: source.address,
    exports: exports.map(({ entry }) => entry),
    ...(newest && {
      changes: Object.fromEntries(changes.map(({ type, counts }) => [type, counts])),
    }),
    ...(reasons.length > 0 && {
      suspect: {
        reasons: [...reasons],
        ...(lastGood && { lastGood: lastGood.snapshot }),
        ...(doubt !== undefined && !acceptFall && { doubt }),
      },
    }),
    ...(memory && { memory }),
    ...(newest && {
      previous: { snapshot: newest.manifest.snapshot, manifestSha256: newest.manifestSha256 },
    }),
    dashkeepVersion: version,
  }
}

/** The manifest of an unchanged snapshot: it describes the files of an earlier one. */
function pointBack(
  manifest: Manifest,
  newest: StoredManifest | undefined,
  filesProvenAt: string,
): Manifest {
  if (newest === undefined) return manifest
  const exports = manifest.exports.map((entry) => ({
    ...entry,
    file: newest.manifest.exports.find(({ type }) => type === entry.type)?.file ?? entry.file,
  }))
  const sameAs = newest.manifest.sameAs ?? newest.manifest.snapshot
  return { ...manifest, exports, sameAs, filesProvenAt }
}

/** The commit: from here on the snapshot exists. */
async function commitManifest(run: Run, manifest: Manifest): Promise<void> {
  const { store, signal, account, snapshot, takenAt } = run
  const key = fileKey(account.accountId, snapshot, manifestName)
  const bytes = encodeReadable(manifest)
  await store.put(key, bytes, { metadata: runMetadata(run), lockFrom: takenAt, signal })
  const found = await store.get(key, { maxBytes: maxManifestBytes, signal })
  if (found !== undefined && Buffer.from(bytes).equals(found)) return
  // What lies there would pass for a snapshot; better none than one that lies.
  if (found !== undefined) await store.remove(key, { signal }).catch(() => {})
  throw notStored(key, found === undefined ? 'it is not there' : 'it reads back as other bytes')
}

/**
 * Makes sure, now that the snapshot is there, that no prune has begun to remove what it shares; a
 * prune looks the other way round. A snapshot that came too late is taken back.
 */
async function confirmShared({ store, signal }: Run, manifest: Manifest): Promise<void> {
  const { account, snapshot, sameAs } = manifest
  if (sameAs === undefined) return
  if (await hasManifest(store, { accountId: account.id, snapshot: sameAs }, { signal })) return
  await store.remove(fileKey(account.id, snapshot, manifestName), { signal })
  throw new DashkeepError(`Cannot share the files of snapshot ${sameAs}: it is being removed`, {
    hint: 'run the backup again',
  })
}

function notStored(key: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot trust what was stored under ${key}: ${state}`, {
    hint: 'the store accepted the file and returned something else; check it before the next run',
  })
}
