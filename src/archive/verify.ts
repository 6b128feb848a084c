import { createHash } from 'node:crypto'
import type { OpenError, Opener } from '../datafile/encryption.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import { createExportScan, type ExportContent } from '../export/scan-export.ts'
import { type ObjectStore, ObjectTooLargeError } from '../store/object-store.ts'
import {
  dataFileKey,
  fileKey,
  hasManifest,
  manifestName,
  type SnapshotFolder,
  type StoredManifest,
  tryReadManifest,
} from './archive.ts'
import type { DamagedFiles } from './damage-note.ts'
import { findUndescribed } from './listed-files.ts'
import {
  holderOf,
  type Manifest,
  ManifestError,
  type ManifestExport,
  maxManifestBytes,
} from './manifest.ts'
import { findMiscount, proveExport } from './prove-export.ts'

/** A difference between the archive and a manifest. */
interface Defect {
  readonly accountId: number
  readonly snapshot: string
  /** The key of the file. */
  readonly key: string
  /** What is wrong, as text. */
  readonly problem: string
}

/** Result of the verification of one snapshot. */
export interface VerifiedSnapshot {
  readonly accountId: number
  readonly snapshot: string
  /** The manifest; undefined when it cannot be read. */
  readonly manifest: Manifest | undefined
  /** Bytes read from the store for this snapshot. */
  readonly bytesRead: number
  /** Number of data files read for this snapshot. Files of an earlier one are not read again. */
  readonly files: number
  /** Objects in these files, according to the manifest. */
  readonly objects: number
  /** Objects in those of them that were opened and are equal to the manifest. */
  readonly equal: number
  /** Encrypted files among them that were decrypted and proven. */
  readonly opened: number
  /** Encrypted files among them that no configured key opens. Only their stored bytes are proven. */
  readonly sealed: number
  /** Why the first of these could not be opened. */
  readonly unopened: OpenError | undefined
  readonly defects: readonly Defect[]
  /** Its damaged data files, in its own folder or in the shared one. */
  readonly damaged: DamagedFiles | undefined
}

interface VerifyOptions {
  readonly scanLimits?: ScanLimits | undefined
  /** Reads encrypted files. Without it, only their stored bytes are proven. */
  readonly opener?: Opener | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Compares snapshots with their manifests, one after the other, in the given order.
 *
 * Reads every data file to its end. Checks its size, both SHA-256, decompression, the form of the
 * document, the number of objects and the contentDigest. Checks that the manifest has the time of the
 * snapshot's name, that the previous manifest has the recorded SHA-256, and that the folder has no other
 * files. Reads shared files once and reports their damage for each snapshot. Of a file that no
 * configured key opens, proves only the stored bytes. Throws when the store cannot answer.
 */
export async function* verifySnapshots(
  store: ObjectStore,
  folders: Iterable<SnapshotFolder> | AsyncIterable<SnapshotFolder>,
  options: VerifyOptions = {},
): AsyncGenerator<VerifiedSnapshot> {
  const verifier = createVerifier(store, options)
  for await (const folder of folders) {
    if (!folder.complete) continue
    const verified = await verifier.verify(folder)
    // A snapshot that `prune` removed in the meantime is not damaged.
    if (verified.defects.length === 0 || (await hasManifest(store, folder, options))) yield verified
  }
}

function createVerifier(store: ObjectStore, options: VerifyOptions) {
  const { scanLimits, opener, signal } = options
  const chain = createChainCheck(store, options)
  /** By key and description of a file: its problem; undefined when it is sound. */
  const provenFiles = new Map<string, string | undefined>()

  async function verify(folder: SnapshotFolder): Promise<VerifiedSnapshot> {
    const { accountId, snapshot } = folder
    const defects: Defect[] = []
    let bytesRead = 0
    const report = (key: string, problem: string | undefined) => {
      if (problem !== undefined) defects.push({ accountId, snapshot, key, problem })
    }
    const manifestKey = fileKey(accountId, snapshot, manifestName)
    const stored = await tryReadManifest(store, accountId, snapshot, { signal })
    if (stored instanceof ManifestError) {
      report(manifestKey, stored.message)
      const nothing = { manifest: undefined, bytesRead, ...noFiles, damaged: undefined }
      return { accountId, snapshot, defects, ...nothing }
    }
    const { manifest } = stored
    bytesRead += folder.files.get(manifestName)?.size ?? 0
    report(manifestKey, checkTime(folder, manifest))
    report(manifestKey, await chain.check(stored))
    for (const name of findUndescribed(folder, manifest)) {
      report(fileKey(accountId, snapshot, name), 'no manifest describes this file')
    }
    const damagedFiles: DamagedFiles['files'][number][] = []
    const read = { ...noFiles }
    for (const entry of manifest.exports) {
      const key = dataFileKey(manifest, entry.file)
      const { type, kibanaVersion, objects, contentDigest, file } = entry
      const claim = { type, kibanaVersion, objects, contentDigest, file }
      const proof = `${key} ${JSON.stringify(claim)}`
      if (!provenFiles.has(proof)) {
        bytesRead += file.stored.bytes
        read.files += 1
        read.objects += objects
        const { problem, unopened } = await checkExport(key, entry)
        provenFiles.set(proof, problem)
        if (problem === undefined && unopened === undefined) read.equal += objects
        if (unopened !== undefined) read.sealed += 1
        else if (file.encryption !== undefined && problem === undefined) read.opened += 1
        read.unopened ??= unopened
      }
      const problem = provenFiles.get(proof)
      report(key, problem)
      if (problem !== undefined) damagedFiles.push({ name: file.name, problem })
    }
    const found = { accountId, snapshot: holderOf(manifest), files: damagedFiles }
    const damaged = damagedFiles.length > 0 ? found : undefined
    return { accountId, snapshot, manifest, bytesRead, ...read, defects, damaged }
  }

  async function checkExport(
    key: string,
    entry: ManifestExport,
  ): Promise<{ problem?: string | undefined; unopened?: OpenError | undefined }> {
    const options = { limits: scanLimits, opener, signal }
    const scan = createExportScan(entry.type, options)
    const { file } = entry
    const { content, defect, unopened } = await proveExport(store, key, { file, scan }, options)
    return { problem: content === undefined ? defect : compareContent(content, entry), unopened }
  }

  return { verify }
}

/** Checks that the previous manifest is the one whose SHA-256 a manifest records. */
function createChainCheck(store: ObjectStore, { signal }: VerifyOptions) {
  /** By account and snapshot: SHA-256 of the manifest. */
  const digests = new Map<string, string>()

  /** Reads the bytes without decoding them, because a damaged manifest still has a digest. */
  async function readDigest(accountId: number, snapshot: string): Promise<string | undefined> {
    const key = fileKey(accountId, snapshot, manifestName)
    try {
      const bytes = await store.get(key, { maxBytes: maxManifestBytes, signal })
      return bytes && createHash('sha256').update(bytes).digest('hex')
    } catch (error) {
      if (error instanceof ObjectTooLargeError) return 'larger than any manifest'
      throw error
    }
  }

  /** Returns what is wrong. A previous manifest that has been pruned is not a problem. */
  async function check({ manifest, manifestSha256 }: StoredManifest): Promise<string | undefined> {
    const { account, snapshot, previous } = manifest
    digests.set(`${account.id}/${snapshot}`, manifestSha256)
    if (previous === undefined) return undefined
    const name = `${account.id}/${previous.snapshot}`
    const found = digests.get(name) ?? (await readDigest(account.id, previous.snapshot))
    if (found === undefined || found === previous.manifestSha256) return undefined
    return `the manifest of the previous snapshot ${previous.snapshot} has been changed since`
  }

  return { check }
}

type FilesRead = Pick<
  VerifiedSnapshot,
  'files' | 'objects' | 'equal' | 'opened' | 'sealed' | 'unopened'
>

const noFiles: FilesRead = {
  files: 0,
  objects: 0,
  equal: 0,
  opened: 0,
  sealed: 0,
  unopened: undefined,
}

/** Compares the content of a file with its description in the manifest. */
function compareContent(content: ExportContent, entry: ManifestExport): string | undefined {
  const miscount = findMiscount(content, entry)
  if (miscount !== undefined) return miscount
  if (content.kibanaVersion !== entry.kibanaVersion) {
    return `it is of kibanaVersion ${content.kibanaVersion} instead of ${entry.kibanaVersion}`
  }
  return content.index.contentDigest === entry.contentDigest
    ? undefined
    : 'its objects do not match the contentDigest of the manifest'
}

/** Checks that the manifest has the same time as the name of the snapshot. */
function checkTime({ takenAt }: SnapshotFolder, manifest: Manifest): string | undefined {
  const second = Math.floor(Date.parse(manifest.takenAt) / 1000) * 1000
  if (second === takenAt.getTime()) return undefined
  return `its takenAt ${manifest.takenAt} differs from the time in the snapshot's name`
}
