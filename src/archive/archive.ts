import { createHash } from 'node:crypto'
import { readAccountId } from '../account-id.ts'
import type { DataFile } from '../datafile/data-file.ts'
import { DashkeepError } from '../errors.ts'
import { type ObjectStore, ObjectTooLargeError, type StoredObject } from '../store/object-store.ts'
import {
  dataFilePattern,
  decodeManifest,
  encodeManifest,
  holderOf,
  type Manifest,
  ManifestError,
  maxManifestBytes,
} from './manifest.ts'
import { endOfAccounts } from './side-folders.ts'
import { snapshotTime } from './snapshot-name.ts'

/** The file whose presence makes a folder a snapshot. */
export const manifestName = 'manifest.json'

/**
 * Note in a snapshot's folder that `verify` has found damaged data files there. A backup sees the
 * note in its listing and shares none of the folder's files.
 */
export const damageNoteName = 'damaged.json'

/** A folder of the archive, made from a listing of keys. */
export interface SnapshotFolder {
  readonly accountId: number
  readonly snapshot: string
  /** Time of the snapshot, to the second, from its name. */
  readonly takenAt: Date
  /** Whether it has a manifest. A folder without one was left by an interrupted run. */
  readonly complete: boolean
  /** All files by name, including the manifest. */
  readonly files: ReadonlyMap<string, StoredObject>
}

/** Whether a name is one of a manifest or a data file. Notes and other people's files have others. */
export function isArchiveFile(name: string): boolean {
  return name !== damageNoteName && dataFilePattern.test(name)
}

/** Total size of the files in a folder, in bytes. */
export function sizeOf({ files }: Pick<SnapshotFolder, 'files'>): number {
  return [...files.values()].reduce((sum, { size }) => sum + size, 0)
}

/** A manifest as it is stored. */
export interface StoredManifest {
  readonly manifest: Manifest
  readonly bytes: Uint8Array
  /** SHA-256 of the bytes (hex). The next manifest records it. */
  readonly manifestSha256: string
}

/** The key of a file of a snapshot. */
export function fileKey(accountId: number, snapshot: string, name: string): string {
  return `${accountId}/${snapshot}/${name}`
}

/** The key of a data file. It is in the folder that `holderOf` names. */
export function dataFileKey(manifest: Manifest, file: DataFile): string {
  return fileKey(manifest.account.id, holderOf(manifest), file.name)
}

/**
 * Lists the folders of the archive, sorted by account (as text) and time. Reads only keys. The
 * listing starts after the key `startAfter`.
 */
export async function* listFolders(
  store: ObjectStore,
  options: {
    accountId?: number | undefined
    /** Lists the folder of this snapshot of the account alone. */
    snapshot?: string | undefined
    startAfter?: string | undefined
    signal?: AbortSignal | undefined
  } = {},
): AsyncGenerator<SnapshotFolder> {
  const { accountId, snapshot, startAfter, signal } = options
  const account = accountId === undefined ? '' : `${accountId}/`
  const prefix = snapshot === undefined ? account : `${account}${snapshot}/`
  let current: (SnapshotFolder & { files: Map<string, StoredObject> }) | undefined
  for await (const object of store.list(prefix, { startAfter, signal })) {
    if (object.key >= endOfAccounts) break
    const parsed = parseKey(object.key)
    if (parsed === undefined) continue
    if (current?.accountId !== parsed.accountId || current.snapshot !== parsed.snapshot) {
      if (current !== undefined) yield withCompleteness(current)
      current = { ...parsed, complete: false, files: new Map() }
    }
    current.files.set(parsed.file, object)
  }
  if (current !== undefined) yield withCompleteness(current)
}

/** The ids of all accounts of the archive, by the names of its folders. One of them may be empty. */
export async function listAccountIds(
  store: ObjectStore,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<number[]> {
  const prefixes = await Array.fromAsync(store.listPrefixes(options))
  return prefixes.flatMap((prefix) => readAccountId(prefix.slice(0, -1)) ?? [])
}

/** Lists the folders of the archive by account. Skips accounts without a folder. */
export async function* listAccounts(
  store: ObjectStore,
  options: { accountId?: number | undefined; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<{ accountId: number; folders: SnapshotFolder[] }> {
  let account: { accountId: number; folders: SnapshotFolder[] } | undefined
  for await (const folder of listFolders(store, options)) {
    if (account?.accountId !== folder.accountId) {
      if (account !== undefined) yield account
      account = { accountId: folder.accountId, folders: [] }
    }
    account.folders.push(folder)
  }
  if (account !== undefined) yield account
}

function withCompleteness(folder: SnapshotFolder): SnapshotFolder {
  return { ...folder, complete: folder.files.has(manifestName) }
}

/** Whether a key names a file in the folder of a snapshot. */
export function isSnapshotFile(key: string): boolean {
  return parseKey(key) !== undefined
}

/** Whether a key, without a final slash, names the folder of an account or of a snapshot. */
export function isArchiveFolder(key: string): boolean {
  const [account = '', snapshot, ...rest] = key.split('/')
  if (readAccountId(account) === undefined || rest.length > 0) return false
  return snapshot === undefined || snapshotTime(snapshot) !== undefined
}

function parseKey(key: string) {
  const [account, snapshot, file, ...rest] = key.split('/')
  if (account === undefined || snapshot === undefined || !file || rest.length > 0) return undefined
  const accountId = readAccountId(account)
  const takenAt = snapshotTime(snapshot)
  if (accountId === undefined || takenAt === undefined) return undefined
  return { accountId, snapshot, takenAt, file }
}

/**
 * Encodes a manifest and checks that a listing shows its key and that readers can decode it. Throws
 * otherwise, before anything is written.
 */
export function encodeReadable(manifest: Manifest): Uint8Array {
  const { account, snapshot, exports } = manifest
  const key = fileKey(account.id, snapshot, manifestName)
  if (!isSnapshotFile(key)) throw unwritable(key, 'a listing would not show it')
  const names = new Set([manifestName, damageNoteName])
  const taken = exports.find(({ file }) => names.has(file.name))
  if (taken) throw unwritable(key, `the name ${taken.file.name} is reserved for the archive itself`)
  const bytes = encodeManifest(manifest)
  if (bytes.length > maxManifestBytes) {
    throw unwritable(key, `it would have ${bytes.length} bytes, more than ${maxManifestBytes}`)
  }
  try {
    decodeManifest(bytes, key)
  } catch (error) {
    throw unwritable(key, (error as Error).message.replace(/^Cannot [^:]*: /, ''))
  }
  return bytes
}

function unwritable(key: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot write the manifest ${key}: ${state}`, {
    hint: "check the account's name, the types, the kibanaVersion and this machine's clock: one of them has a value that a manifest cannot contain",
  })
}

/**
 * Whether a folder has its manifest now, even if an earlier listing showed something else. Reads
 * the manifest, because a read costs a twelfth of a listing.
 */
export async function hasManifest(
  store: ObjectStore,
  { accountId, snapshot }: { accountId: number; snapshot: string },
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<boolean> {
  const key = fileKey(accountId, snapshot, manifestName)
  try {
    return (await store.get(key, { maxBytes: maxManifestBytes, signal })) !== undefined
  } catch (error) {
    if (error instanceof ObjectTooLargeError) return true
    throw error
  }
}

/**
 * Reads the manifest of a snapshot. Throws a `ManifestError` when it does not exist, is invalid, or
 * describes another snapshot.
 */
export async function readManifest(
  store: ObjectStore,
  accountId: number,
  snapshot: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<StoredManifest> {
  const key = fileKey(accountId, snapshot, manifestName)
  const bytes = await store.get(key, { ...options, maxBytes: maxManifestBytes }).catch((error) => {
    if (error instanceof ObjectTooLargeError) {
      throw new ManifestError(error.message, { kind: 'unverified' })
    }
    throw error
  })
  if (bytes === undefined) {
    throw new ManifestError(
      `Cannot read snapshot ${snapshot} of account ${accountId}: no manifest`,
      {
        hint: '`dashkeep list` shows the existing snapshots',
      },
    )
  }
  const manifest = decodeManifest(bytes, `the manifest ${key}`)
  if (manifest.snapshot !== snapshot || manifest.account.id !== accountId) {
    throw new ManifestError(
      `Cannot read the manifest ${key}: it is the manifest of snapshot ${manifest.snapshot} of account ${manifest.account.id}`,
      { kind: 'unverified', hint: 'somebody moved or copied it; move it back to its folder' },
    )
  }
  return { manifest, bytes, manifestSha256: createHash('sha256').update(bytes).digest('hex') }
}

/** As `readManifest`, but returns a `ManifestError` instead of throwing it. */
export async function tryReadManifest(
  ...args: Parameters<typeof readManifest>
): Promise<StoredManifest | ManifestError> {
  try {
    return await readManifest(...args)
  } catch (error) {
    if (error instanceof ManifestError) return error
    throw error
  }
}
