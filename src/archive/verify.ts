import { createHash } from 'node:crypto'
import type { OpenError, Opener } from '../datafile/encryption.ts'
import type { ScanLimits } from '../export/export-scanner.ts'
import type { ExportContent } from '../export/scan-export.ts'
import { type ObjectStore, ObjectTooLargeError } from '../store/object-store.ts'
import {
  damageNoteName,
  dataFileKey,
  fileKey,
  hasManifest,
  manifestName,
  type SnapshotFolder,
  type StoredManifest,
  tryReadManifest,
} from './archive.ts'
import type { DamagedFiles } from './damage-note.ts'
import { type Manifest, ManifestError, type ManifestExport, maxManifestBytes } from './manifest.ts'
import { proveExport } from './prove-export.ts'

/** Something in the archive that is not as a manifest says. */
export interface Defect {
  readonly accountId: number
  readonly snapshot: string
  /** The key concerned. */
  readonly key: string
  /** What was found, for people. */
  readonly problem: string
}

/** What verifying one snapshot found. */
export interface VerifiedSnapshot {
  readonly accountId: number
  readonly snapshot: string
  /** The manifest, unless it cannot be read. */
  readonly manifest: Manifest | undefined
  /** Bytes read from the store for this snapshot. */
  readonly bytesRead: number
  /** Data files read for this snapshot; those read for an earlier one are not read again. */
  readonly files: number
  /** Encrypted files among them that were opened, with their content proven. */
  readonly opened: number
  /** Encrypted files among them that no key at hand opens; their stored bytes are proven. */
  readonly sealed: number
  /** Why the first of those could not be opened. */
  readonly unopened: OpenError | undefined
  readonly defects: readonly Defect[]
  /** Those of its data files that are damaged, in its own folder or in the one it shares. */
  readonly damaged: DamagedFiles | undefined
}

export interface VerifyOptions {
  readonly scanLimits?: ScanLimits | undefined
  /** Reads encrypted files; without it they are proven as far as their stored bytes. */
  readonly opener?: Opener | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Proves snapshots against their manifests, one after the other, in the order given.
 *
 * Every data file is read to its end: presence, size, both SHA-256, decompression, the document's
 * form, number of objects and contentDigest. The manifest must have the time of the snapshot's name,
 * and the manifest before it the SHA-256 that the chain records. The folder must hold nothing else.
 * Files that several snapshots share are read once and their damage is reported for each. A file that
 * no key at hand opens is proven as far as its stored bytes. Throws when the store cannot answer.
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
    // A snapshot that a prune removes meanwhile is not damaged.
    if (verified.defects.length === 0 || (await hasManifest(store, folder, options))) yield verified
  }
}

function createVerifier(store: ObjectStore, options: VerifyOptions) {
  const { scanLimits, opener, signal } = options
  const chain = createChainCheck(store, options)
  /** By file key and description: what was found wrong with the file; undefined when nothing. */
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
    for (const name of unexpectedFiles(folder, manifest)) {
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
        const { problem, unopened } = await checkExport(key, entry)
        provenFiles.set(proof, problem)
        if (unopened !== undefined) read.sealed += 1
        else if (file.encryption !== undefined && problem === undefined) read.opened += 1
        read.unopened ??= unopened
      }
      const problem = provenFiles.get(proof)
      report(key, problem)
      if (problem !== undefined) damagedFiles.push({ name: file.name, problem })
    }
    const holder = manifest.sameAs ?? snapshot
    const damaged =
      damagedFiles.length > 0 ? { accountId, snapshot: holder, files: damagedFiles } : undefined
    return { accountId, snapshot, manifest, bytesRead, ...read, defects, damaged }
  }

  async function checkExport(
    key: string,
    entry: ManifestExport,
  ): Promise<{ problem?: string | undefined; unopened?: OpenError | undefined }> {
    const options = { limits: scanLimits, opener, signal }
    const { content, defect, unopened } = await proveExport(store, key, entry, options)
    return { problem: content === undefined ? defect : compareContent(content, entry), unopened }
  }

  return { verify }
}

/** Checks that the previous manifest is the one whose SHA-256 a manifest records. */
function createChainCheck(store: ObjectStore, { signal }: VerifyOptions) {
  /** By account and snapshot: SHA-256 of the manifest. */
  const digests = new Map<string, string>()

  /** Reads the bytes and not the manifest: a damaged manifest has not been pruned. */
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

const noFiles: Pick<VerifiedSnapshot, 'files' | 'opened' | 'sealed' | 'unopened'> = {
  files: 0,
  opened: 0,
  sealed: 0,
  unopened: undefined,
}

/** How the content of a sound file differs from what the manifest says of it. */
function compareContent(content: ExportContent, entry: ManifestExport): string | undefined {
  if (content.objects !== entry.objects) {
    return `it holds ${content.objects} objects instead of ${entry.objects}`
  }
  if (content.kibanaVersion !== entry.kibanaVersion) {
    return `it is of kibanaVersion ${content.kibanaVersion} instead of ${entry.kibanaVersion}`
  }
  return content.index.contentDigest === entry.contentDigest
    ? undefined
    : 'its objects do not have the contentDigest of the manifest'
}

/** The name of a snapshot decides its place in time; the manifest must not say another. */
function checkTime({ snapshot, takenAt }: SnapshotFolder, manifest: Manifest): string | undefined {
  const second = Math.floor(Date.parse(manifest.takenAt) / 1000) * 1000
  if (second === takenAt.getTime()) return undefined
  return `it says that snapshot ${snapshot} was taken at ${manifest.takenAt}`
}

/** Files beside the manifest that it does not describe. */
function unexpectedFiles(folder: SnapshotFolder, manifest: Manifest): string[] {
  const own = manifest.sameAs === undefined ? manifest.exports.map(({ file }) => file.name) : []
  const expected = new Set([manifestName, damageNoteName, ...own])
  return [...folder.files.keys()].filter((name) => !expected.has(name))
}
