import { createHash } from 'node:crypto'
import { readAccountId } from '../account-id.ts'
import type { DataFile } from '../datafile/data-file.ts'
import { DashkeepError } from '../errors.ts'
import { type ObjectStore, ObjectTooLargeError, type StoredObject } from '../store/object-store.ts'
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  ManifestError,
  maxManifestBytes,
} from './manifest.ts'
import { snapshotTime } from './snapshot-name.ts'

/** The file whose presence makes a folder a snapshot. */
export const manifestName = 'manifest.json'

/**
 * The file in a snapshot's folder that says that `verify` has found data files there damaged. A
 * backup sees it in the listing that it makes anyway, and shares none of the folder's files.
 */
export const damageNoteName = 'damaged.json'

/** One folder of the archive, as a listing of keys shows it. */
export interface SnapshotFolder {
  readonly accountId: number
  readonly snapshot: string
  /** The second in which it was taken, from its name. */
  readonly takenAt: Date
  /** Whether it has a manifest: without one it is not a snapshot, but the remains of a run. */
  readonly complete: boolean
  /** Its files, the manifest included, by name. */
  readonly files: ReadonlyMap<string, StoredObject>
}

/** Bytes of the files in a folder. */
export function sizeOf({ files }: Pick<SnapshotFolder, 'files'>): number {
  return [...files.values()].reduce((sum, { size }) => sum + size, 0)
}

/** A manifest with the SHA-256 of its bytes (hex), which the next manifest records. */
export interface StoredManifest {
  readonly manifest: Manifest
  readonly manifestSha256: string
}

/** The key of a file of a snapshot. */
export function fileKey(accountId: number, snapshot: string, name: string): string {
  return `${accountId}/${snapshot}/${name}`
}

/** The key of an export's file: in the snapshot's own folder, or in the one it is the same as. */
export function dataFileKey(manifest: Manifest, file: DataFile): string {
  return fileKey(manifest.account.id, manifest.sameAs ?? manifest.snapshot, file.name)
}

/**
 * Lists the archive's folders in the order of accounts (as text) and time, from the keys alone.
 * `startAfter` is a key: listing begins behind it.
 */
export async function* listFolders(
  store: ObjectStore,
  options: {
    accountId?: number | undefined
    startAfter?: string | undefined
    signal?: AbortSignal | undefined
  } = {},
): AsyncGenerator<SnapshotFolder> {
  const { accountId, startAfter, signal } = options
  const prefix = accountId === undefined ? '' : `${accountId}/`
  let current: (SnapshotFolder & { files: Map<string, StoredObject> }) | undefined
  for await (const object of store.list(prefix, { startAfter, signal })) {
    const place = parseKey(object.key)
    if (place === undefined) continue
    if (current?.accountId !== place.accountId || current.snapshot !== place.snapshot) {
      if (current !== undefined) yield withCompleteness(current)
      current = { ...place, complete: false, files: new Map() }
    }
    current.files.set(place.file, object)
  }
  if (current !== undefined) yield withCompleteness(current)
}

/** Lists the archive account by account; accounts without a single folder do not show. */
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

/** Whether a key is that of a file in a snapshot's folder. */
export function isSnapshotFile(key: string): boolean {
  return parseKey(key) !== undefined
}

/** Whether a key is that of the folder of an account or of a snapshot, without a slash at its end. */
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
 * Encodes a manifest, and proves first that every reader will find and read it. Throws when one
 * would not; nothing has been written by then.
 */
export function encodeReadable(manifest: Manifest): Uint8Array {
  const { account, snapshot, exports } = manifest
  const key = fileKey(account.id, snapshot, manifestName)
  if (!isSnapshotFile(key)) throw unwritable(key, 'no listing would show it')
  const names = new Set([manifestName, damageNoteName])
  const taken = exports.find(({ file }) => names.has(file.name))
  if (taken) throw unwritable(key, `the archive itself has a file ${taken.file.name}`)
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
    hint: "look at the account's name, the types, the kibanaVersion and this machine's clock: one of them has no place in a manifest",
  })
}

/**
 * Whether a folder has its manifest at this moment, whatever an earlier listing said. Reads the
 * manifest, since a listing costs as much as a write and a read a twelfth of it.
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
 * Reads a snapshot's manifest. Throws a `ManifestError` when it is not there, cannot be used, or is
 * that of another snapshot.
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
        hint: '`dashkeep list` shows the snapshots there are',
      },
    )
  }
  const manifest = decodeManifest(bytes, `the manifest ${key}`)
  if (manifest.snapshot !== snapshot || manifest.account.id !== accountId) {
    throw new ManifestError(
      `Cannot read the manifest ${key}: it is the manifest of snapshot ${manifest.snapshot} of account ${manifest.account.id}`,
      { kind: 'unverified', hint: 'somebody moved or copied it; put it back where it belongs' },
    )
  }
  return { manifest, manifestSha256: createHash('sha256').update(bytes).digest('hex') }
}

/** The same, with the `ManifestError` as a value. */
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
