import {
  damageNoteName,
  dataFileKey,
  fileKey,
  hasManifest,
  listAccounts,
  manifestName,
  type SnapshotFolder,
  type StoredManifest,
  tryReadManifest,
} from '../archive/archive.ts'
import { type Manifest, ManifestError, type ManifestExport } from '../archive/manifest.ts'
import { proveReadable } from '../datafile/data-file.ts'
import type { ObjectStore } from '../store/object-store.ts'
import {
  type CopyFileOptions,
  copyExportFile,
  copyManifest,
  type Direction,
  type FileDefect,
} from './copy-files.ts'

/** A file of the archive that is damaged or missing. */
export interface DamagedFile {
  readonly accountId: number
  /** The snapshot whose folder holds it. */
  readonly snapshot: string
  readonly key: string
  /** What was found, for people. */
  readonly problem: string
  /** Why the copy cannot replace it; undefined when it can. */
  readonly unfit: string | undefined
  /** What to write; undefined when the copy cannot replace the file. */
  readonly replacement: Replacement | undefined
}

interface Replacement {
  readonly manifest: Manifest
  /** The bytes of the manifest, when it is the manifest that is replaced. */
  readonly bytes?: Uint8Array | undefined
  /** The export whose data file is replaced. */
  readonly entry?: ManifestExport | undefined
  /**
   * The snapshot of the archive that needs the file. Once a prune removes it, nothing is written.
   * Undefined for a snapshot that has no manifest yet.
   */
  readonly neededBy: string | undefined
}

interface PlanOptions {
  readonly accountId?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onRead?: ((snapshot: string) => void) | undefined
}

/**
 * Reads the stored bytes of each file in the archive and finds those that are missing or not as their
 * manifest says, with what the copy has in their place. Nothing is written. `source` is the copy, and
 * `target` the archive. Snapshots without a manifest are not missed, unless others share their files:
 * `copySnapshots` in the other direction brings them back. Only the files that they have are compared,
 * with the manifest of the copy, because `copySnapshots` overwrites none.
 *
 * A manifest of the copy is taken only if it is proven: by the SHA-256 that a later manifest of the
 * archive records, or, when none does, by the data files that the archive still has.
 */
export async function* planRepair(
  stores: Direction,
  options: PlanOptions = {},
): AsyncGenerator<DamagedFile> {
  for await (const { accountId, folders } of listAccounts(stores.target, options)) {
    const names = folders.filter(({ complete }) => complete).map(({ snapshot }) => snapshot)
    const account = { accountId, names, checked: new Set<string>() }
    for (const snapshot of names) {
      yield* checkFolder(stores, account, snapshot, { ...options, neededBy: snapshot })
      options.onRead?.(`${accountId}/${snapshot}`)
    }
    for (const folder of folders.filter(({ complete }) => !complete)) {
      yield* checkUnfinished(stores, folder, options)
    }
  }
}

/** An account of the archive, with its complete snapshots. */
interface CheckedAccount {
  readonly accountId: number
  /** Oldest first. */
  readonly names: readonly string[]
  readonly checked: Set<string>
}

interface CheckOptions extends PlanOptions {
  readonly neededBy: string
}

type FileOptions = PlanOptions & Pick<Replacement, 'neededBy'>

/** Checks a folder, and the one whose files its snapshot shares. Each folder once. */
async function* checkFolder(
  stores: Direction,
  account: CheckedAccount,
  snapshot: string,
  options: CheckOptions,
): AsyncGenerator<DamagedFile> {
  if (account.checked.has(snapshot)) return
  account.checked.add(snapshot)
  const { neededBy } = options
  const place = { accountId: account.accountId, snapshot }
  const isThere = () => hasManifest(stores.target, { ...place, snapshot: neededBy }, options)
  const read = await readOrReplace(stores, account, snapshot, options)
  if ('damaged' in read) {
    if (!(await isThere())) return
    yield read.damaged
  }
  const { manifest } = read
  if (manifest === undefined) return
  if (manifest.sameAs !== undefined) {
    yield* checkFolder(stores, account, manifest.sameAs, options)
    return
  }
  for (const entry of manifest.exports) {
    const damaged = await checkFile(stores, manifest, entry, options)
    if (damaged === undefined) continue
    // A snapshot that a prune removes meanwhile is not damaged.
    if (!(await isThere())) return
    yield damaged
  }
}

/** Checks the files of a folder without a manifest, if the copy has the manifest. */
async function* checkUnfinished(
  stores: Direction,
  { accountId, snapshot, files }: SnapshotFolder,
  options: PlanOptions,
): AsyncGenerator<DamagedFile> {
  const read = await tryReadManifest(stores.source, accountId, snapshot, options)
  if (read instanceof ManifestError || read.manifest.sameAs !== undefined) return
  for (const entry of read.manifest.exports) {
    if (!files.has(entry.file.name)) continue
    const damaged = await checkFile(stores, read.manifest, entry, {
      ...options,
      neededBy: undefined,
    })
    if (damaged) yield damaged
  }
}

/** Reads a manifest of the archive, or finds the one of the copy that can replace it. */
async function readOrReplace(
  stores: Direction,
  account: CheckedAccount,
  snapshot: string,
  options: CheckOptions,
): Promise<{ manifest: Manifest } | { manifest: Manifest | undefined; damaged: DamagedFile }> {
  const { accountId } = account
  const read = await tryReadManifest(stores.target, accountId, snapshot, options)
  if (!(read instanceof ManifestError)) return read
  const key = fileKey(accountId, snapshot, manifestName)
  const damaged = { accountId, snapshot, key, problem: read.message }
  const copied = await tryReadManifest(stores.source, accountId, snapshot, options)
  const unfit =
    copied instanceof ManifestError
      ? copied.message
      : await findDoubt(stores.target, account, copied, options)
  if (unfit !== undefined || copied instanceof ManifestError) {
    return { manifest: undefined, damaged: { ...damaged, unfit, replacement: undefined } }
  }
  const replacement = { ...copied, neededBy: options.neededBy }
  return { manifest: copied.manifest, damaged: { ...damaged, unfit: undefined, replacement } }
}

/** Says why a manifest of the copy may not be that of the archive; undefined when it is proven. */
async function findDoubt(
  archive: ObjectStore,
  account: CheckedAccount,
  { manifest, manifestSha256 }: StoredManifest,
  options: CheckOptions,
): Promise<string | undefined> {
  const recorded = await findRecordedDigest(archive, account, manifest.snapshot, options)
  if (recorded === manifestSha256) return undefined
  if (recorded !== undefined) return `its SHA-256 is ${manifestSha256} instead of ${recorded}`
  let proofs = 0
  for (const { file } of manifest.exports) {
    const key = dataFileKey(manifest, file)
    const defect = await proveReadable(archive, key, file, options)
    if (defect?.problem === 'stored-bytes') {
      return `nothing proves it: it does not describe ${key} as the archive has it`
    }
    if (defect === undefined) proofs += 1
  }
  return proofs > 0 ? undefined : 'nothing proves it: the archive has none of its files'
}

/** The SHA-256 of a snapshot's manifest that a later manifest of the archive records. */
async function findRecordedDigest(
  archive: ObjectStore,
  { accountId, names }: CheckedAccount,
  snapshot: string,
  options: CheckOptions,
): Promise<string | undefined> {
  for (const later of names.filter((name) => name > snapshot)) {
    const read = await tryReadManifest(archive, accountId, later, options)
    if (read instanceof ManifestError) continue
    const { previous } = read.manifest
    if (previous?.snapshot === snapshot) return previous.manifestSha256
    if (previous !== undefined && previous.snapshot > snapshot) return undefined
  }
  return undefined
}

async function checkFile(
  { source, target }: Direction,
  manifest: Manifest,
  entry: ManifestExport,
  options: FileOptions,
): Promise<DamagedFile | undefined> {
  const key = dataFileKey(manifest, entry.file)
  const defect = await proveReadable(target, key, entry.file, options)
  if (defect === undefined) return undefined
  const unfit = await proveReadable(source, key, entry.file, options)
  return {
    accountId: manifest.account.id,
    snapshot: manifest.snapshot,
    key,
    problem: defect.detail,
    unfit: unfit?.detail,
    replacement: unfit ? undefined : { manifest, entry, neededBy: options.neededBy },
  }
}

/** What became of a damaged file. */
interface RepairedFile {
  readonly file: DamagedFile
  /** What is wrong with it afterwards. */
  readonly defect: FileDefect | undefined
}

/**
 * Replaces the files that the copy can replace: data files first, each read back, and manifests last.
 * This is the only code that writes to an existing key of an archive. Passes over the files of a
 * snapshot that was pruned since the plan was made. The note of damage goes when all files of its
 * folder are sound again.
 */
export async function* repairFiles(
  stores: Direction,
  damaged: readonly DamagedFile[],
  options: CopyFileOptions,
): AsyncGenerator<RepairedFile> {
  const unsound = new Set(damaged.filter((one) => !one.replacement).map(folderOf))
  const folders = new Map(damaged.map((one) => [folderOf(one), one]))
  for (const file of [...damaged].sort((a, b) => rankOf(a) - rankOf(b))) {
    const { replacement, accountId } = file
    if (replacement === undefined) continue
    const { neededBy: snapshot } = replacement
    const isNeeded =
      snapshot === undefined || hasManifest(stores.target, { accountId, snapshot }, options)
    if (!(await isNeeded)) continue
    const defect = await replaceFile(stores, replacement, options)
    if (defect) unsound.add(folderOf(file))
    yield { file, defect }
  }
  for (const [folder, { accountId, snapshot }] of folders) {
    if (unsound.has(folder)) continue
    await stores.target.remove(fileKey(accountId, snapshot, damageNoteName), options)
  }
}

/** Manifests come last. */
function rankOf({ replacement }: DamagedFile): number {
  return replacement?.bytes ? 1 : 0
}

function folderOf({ accountId, snapshot }: DamagedFile): string {
  return `${accountId}/${snapshot}`
}

async function replaceFile(
  stores: Direction,
  { manifest, bytes, entry }: Replacement,
  options: CopyFileOptions,
): Promise<FileDefect | undefined> {
  if (entry) return copyExportFile(stores, manifest, entry, options)
  return bytes && copyManifest(stores, { manifest, bytes }, options)
}
