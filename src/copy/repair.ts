import {
  damageNoteName,
  dataFileKey,
  fileKey,
  hasManifest,
  listAccounts,
  manifestName,
  tryReadManifest,
} from '../archive/archive.ts'
import { type Manifest, ManifestError, type ManifestExport } from '../archive/manifest.ts'
import { proveStoredBytes } from '../datafile/data-file.ts'
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
}

/**
 * Reads the stored bytes of each file in the archive and finds those that are missing or not as their
 * manifest says, with what the copy has in their place. Nothing is written. `source` is the copy, and
 * `target` the archive. Snapshots that are gone as a whole are not missed: `copySnapshots` in the
 * other direction brings them back.
 */
export async function* planRepair(
  stores: Direction,
  options: {
    accountId?: number | undefined
    signal?: AbortSignal | undefined
    onRead?: ((snapshot: string) => void) | undefined
  } = {},
): AsyncGenerator<DamagedFile> {
  for await (const { accountId, folders } of listAccounts(stores.target, options)) {
    const checked = new Set<string>()
    for (const { snapshot } of folders.filter(({ complete }) => complete)) {
      if (!checked.has(snapshot)) yield* checkFolder(stores, accountId, snapshot, options, checked)
      options.onRead?.(`${accountId}/${snapshot}`)
    }
  }
}

/** Checks a folder, and the one whose files its snapshot shares. */
async function* checkFolder(
  stores: Direction,
  accountId: number,
  snapshot: string,
  options: { signal?: AbortSignal | undefined },
  checked: Set<string>,
): AsyncGenerator<DamagedFile> {
  checked.add(snapshot)
  const key = fileKey(accountId, snapshot, manifestName)
  const place = { accountId, snapshot, key }
  let isReplaced = false
  let read = await tryReadManifest(stores.target, accountId, snapshot, options)
  if (read instanceof ManifestError) {
    const problem = read.message
    read = await tryReadManifest(stores.source, accountId, snapshot, options)
    if (read instanceof ManifestError) {
      yield { ...place, problem, unfit: read.message, replacement: undefined }
      return
    }
    yield { ...place, problem, unfit: undefined, replacement: read }
    isReplaced = true
  }
  const { manifest } = read
  if (manifest.sameAs !== undefined) {
    if (checked.has(manifest.sameAs)) return
    yield* checkFolder(stores, accountId, manifest.sameAs, options, checked)
    return
  }
  for (const entry of manifest.exports) {
    const damaged = await checkFile(stores, manifest, entry, options)
    if (damaged === undefined) continue
    // A snapshot that a prune removes meanwhile is not damaged.
    if (!isReplaced && !(await hasManifest(stores.target, place, options))) return
    yield damaged
  }
}

async function checkFile(
  { source, target }: Direction,
  manifest: Manifest,
  entry: ManifestExport,
  options: { signal?: AbortSignal | undefined },
): Promise<DamagedFile | undefined> {
  const key = dataFileKey(manifest, entry.file)
  const defect = await proveStoredBytes(target, key, entry.file, options)
  if (defect === undefined) return undefined
  const unfit = await proveStoredBytes(source, key, entry.file, options)
  return {
    accountId: manifest.account.id,
    snapshot: manifest.snapshot,
    key,
    problem: defect.detail,
    unfit: unfit?.detail,
    replacement: unfit ? undefined : { manifest, entry },
  }
}

/**
 * Replaces the files that the copy can replace: data files first, each read back, and manifests last.
 * This is the only code that writes to an existing key of an archive. The note of damage goes when
 * all files of its folder are sound again. Yields each file with what is wrong with it afterwards.
 */
export async function* repairFiles(
  stores: Direction,
  damaged: readonly DamagedFile[],
  options: CopyFileOptions,
): AsyncGenerator<{ file: DamagedFile; defect: FileDefect | undefined }> {
  const unsound = new Set(damaged.filter((one) => !one.replacement).map(folderOf))
  const folders = new Map(damaged.map((one) => [folderOf(one), one]))
  for (const file of [...damaged].sort((a, b) => rankOf(a) - rankOf(b))) {
    if (file.replacement === undefined) continue
    const defect = await replaceFile(stores, file.replacement, options)
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
