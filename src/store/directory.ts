import { randomBytes } from 'node:crypto'
import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { type FileHandle, lstat, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { makeFolder } from '../local-files.ts'
import { collectBytes } from './collect.ts'
import { explainFileError, fileErrorCode } from './directory-errors.ts'
import { StoreError } from './errors.ts'
import { guardWriter, type WriterSteps } from './guarded-writer.ts'
import { checkKey, compareKeys, isKey } from './keys.ts'
import {
  type ObjectStore,
  ObjectTooLargeError,
  type ObjectWriter,
  type StoreCallOptions,
  type StoredObject,
  type UnfinishedWrite,
} from './object-store.ts'

/**
 * Where files grow before they are moved into place, below the root so that moving is one rename.
 * A name in it is `<UTC second>-<random>`; what a killed process left can be told by its age.
 */
const temporaryFolder = '.dashkeep-tmp'

/** Exports can hold personal data: only the user that writes them may read them. */
const folderMode = 0o700
const fileMode = 0o600

const readSize = 256 * 1024

/** How often a folder may be removed by somebody else between its making and its use. */
const maxFolderRaces = 20

/**
 * Keeps objects as files below a folder, one file per object, its key being its path.
 *
 * An object is written beside the others, flushed to the disk and renamed, so it is there completely
 * or not at all, also after a power cut. Writing an existing key replaces the object in the same way.
 * The folder is made with the first object; until then the store is empty. Metadata is not kept.
 * The root may be a symbolic link. Links below it are not listed, and nothing is written through one.
 */
export function createDirectoryStore({ root: givenRoot }: { root: string }): ObjectStore {
  const root = resolve(givenRoot)
  const pathOf = (key: string): string => {
    checkKey(key)
    if (isTemporary(key)) throw reservedKey(key)
    return join(root, key)
  }

  return {
    url: pathToFileURL(root).href,

    async put(key, body, { signal } = {}) {
      await using writer = await createWriter(root, pathOf(key), signal)
      await writer.write(body)
      await writer.commit()
    },

    async create(key, { signal } = {}) {
      return await createWriter(root, pathOf(key), signal)
    },

    async get(key, { maxBytes, signal }) {
      const path = pathOf(key)
      signal?.throwIfAborted()
      return await explained('read', path, async () => {
        const file = await statFile(root, path)
        if (file === undefined) return undefined
        if (file.size > maxBytes) throw tooLarge(path, file.size, maxBytes)
        return await collectBytes(readFile(path, file.size, signal))
      })
    },

    async open(key, { signal } = {}) {
      const path = pathOf(key)
      signal?.throwIfAborted()
      const file = await explained('read', path, () => statFile(root, path))
      return file && readFile(path, file.size, signal)
    },

    async *list(prefix, { startAfter, signal } = {}) {
      yield* walk(root, '', { prefix, startAfter: startAfter || undefined, signal })
    },

    async remove(key, { signal } = {}) {
      const path = pathOf(key)
      signal?.throwIfAborted()
      await explained('remove', path, () => removeFile(root, path))
    },

    async *listUnfinished({ signal } = {}) {
      const folder = join(root, temporaryFolder)
      const entries = await explained('list', folder, async () => readFolder(folder))
      for (const { name } of entries) {
        signal?.throwIfAborted()
        const startedAt = temporaryTime(name)
        if (startedAt) yield describeUnfinished(join(folder, name), startedAt)
      }
    },

    async *listEmptyFolders({ signal } = {}) {
      for await (const { key, changedAt } of walkEmpty(root, '', signal)) {
        yield { key, changedAt, remove: (options) => removeEmpty(root, pathOf(key), options) }
      }
    },

    async close() {},
  }
}

function isTemporary(key: string): boolean {
  return key === temporaryFolder || key.startsWith(`${temporaryFolder}/`)
}

function reservedKey(key: string): StoreError {
  return new StoreError(
    `Cannot use ${JSON.stringify(key)} as a key: the folder is for unfinished files`,
    { kind: 'usage' },
  )
}

function tooLarge(path: string, size: number, maxBytes: number): StoreError {
  return new ObjectTooLargeError(`Cannot read ${path}: it has ${size} bytes, more than ${maxBytes}`)
}

async function explained<T>(action: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw explainFileError(error, action, path)
  }
}

async function createWriter(
  root: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ObjectWriter> {
  signal?.throwIfAborted()
  await explained('write', path, () => refuseLinks(root, path))
  const temporary = await explained('write', path, () => openTemporary(root))
  const release = async (): Promise<void> => {
    await temporary.handle.close()
    await rm(temporary.path, { force: true })
    await removeIfEmpty(dirname(temporary.path))
  }
  const steps: WriterSteps = {
    write: (chunk) => explained('write', path, () => temporary.handle.writeFile(chunk)),
    commit: () =>
      explained('write', path, async () => {
        await temporary.handle.sync()
        await moveIntoPlace(root, temporary.path, path)
        await release()
      }),
    discard: () => explained('remove', temporary.path, release),
  }
  return guardWriter(steps, signal)
}

/** Throws when a folder between the root and a file is a symbolic link: no listing follows one. */
async function refuseLinks(root: string, path: string): Promise<void> {
  const folder = dirname(path)
  if (folder === root) return
  await refuseLinks(root, folder)
  if (!(await isLink(folder))) return
  throw new StoreError(
    `Cannot write ${path}: ${folder} is a symbolic link, which no list follows`,
    {
      kind: 'usage',
      hint: 'Put a folder in its place; only the folder of the whole store may be a link',
    },
  )
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(fileErrorCode(error) ?? '')) return false
    throw error
  }
}

async function openTemporary(root: string): Promise<{ path: string; handle: FileHandle }> {
  const second = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const path = join(root, temporaryFolder, `${second}-${randomBytes(8).toString('hex')}`)
  const handle = await inFolder(dirname(path), () => open(path, 'wx', fileMode))
  return { path, handle }
}

/** When a temporary file was begun, by its name; `undefined` for what is not one of ours. */
function temporaryTime(name: string): Date | undefined {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{16}$/.exec(name)
  if (!parts) return undefined
  const [, year, month, day, hour, minute, second] = parts
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(time.getTime()) ? undefined : time
}

function describeUnfinished(path: string, startedAt: Date): UnfinishedWrite {
  return {
    key: undefined,
    startedAt,
    async remove({ signal } = {}) {
      signal?.throwIfAborted()
      await explained('remove', path, () => rm(path, { force: true }))
      await removeIfEmpty(dirname(path))
    },
  }
}

async function moveIntoPlace(root: string, from: string, to: string): Promise<void> {
  await inFolder(dirname(to), () => rename(from, to))
  for (let folder = dirname(to); folder !== dirname(root); folder = dirname(folder)) {
    await syncFolder(folder)
  }
}

/** Acts in a folder that is made when it is missing, again when somebody removes it meanwhile. */
async function inFolder<T>(folder: string, act: () => Promise<T>): Promise<T> {
  for (let race = 0; ; race += 1) {
    try {
      const onMade = (made: string) => syncFolder(dirname(made))
      await makeFolder(folder, { mode: folderMode, onMade })
      return await act()
    } catch (error) {
      const mayPass = ['ENOENT', 'EEXIST'].includes(fileErrorCode(error) ?? '')
      if (!mayPass || race === maxFolderRaces) throw error
    }
  }
}

/** Makes the names in a folder durable, where that is possible: not every mount knows how. */
async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r')
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EACCES'].includes(fileErrorCode(error) ?? '')) throw error
  }
}

/** Returns `undefined` when no file is there; throws when the root itself is not a folder. */
async function statFile(root: string, path: string): Promise<Stats | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (await isAbsence(root, error)) return undefined
    throw error
  }
}

/** A file in the middle of a path means that nothing is there, unless that file is the root. */
async function isAbsence(root: string, error: unknown): Promise<boolean> {
  const code = fileErrorCode(error)
  if (code === 'ENOENT') return true
  return code === 'ENOTDIR' && (await stat(root)).isDirectory()
}

async function* readFile(
  path: string,
  size: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  await using handle = await explained('read', path, () => open(path, 'r'))
  const chunk = Buffer.allocUnsafeSlow(Math.min(readSize, size))
  for (let position = 0; position < size; ) {
    signal?.throwIfAborted()
    const { bytesRead } = await explained('read', path, () =>
      handle.read(chunk, 0, Math.min(chunk.length, size - position), position),
    )
    if (bytesRead === 0) {
      throw new StoreError(`Cannot read ${path}: it ended after ${position} of ${size} bytes`)
    }
    position += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}

interface Selection {
  readonly prefix: string
  readonly startAfter: string | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Lists one folder after the other; a folder that holds nothing of the selection is not read. The
 * file system is asked on this thread, since the way to another takes fifteen times as long as the
 * answer; others have their turn between two folders.
 */
async function* walk(
  folder: string,
  folderKey: string,
  selection: Selection,
): AsyncGenerator<StoredObject> {
  await setImmediate()
  selection.signal?.throwIfAborted()
  const entries = await explained('list', folder, async () => readFolder(folder))
  const keys = entries
    .map((entry) => keyOf(folderKey, entry))
    .filter((key) => key !== undefined)
    .filter((key) => isSelected(key, selection))
    .sort(compareKeys)
  for (const key of keys) {
    const path = join(folder, key.slice(folderKey.length))
    if (key.endsWith('/')) {
      yield* walk(path, key, selection)
      continue
    }
    selection.signal?.throwIfAborted()
    const stats = await explained('list', path, async () =>
      statSync(path, { throwIfNoEntry: false }),
    )
    if (stats?.isFile()) yield { key, size: stats.size, modifiedAt: stats.mtime }
  }
}

/** Lists the folders below one that hold nothing at all. */
async function* walkEmpty(
  folder: string,
  folderKey: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ key: string; changedAt: Date }> {
  await setImmediate()
  signal?.throwIfAborted()
  const entries = await explained('list', folder, async () => readFolder(folder))
  if (entries.length === 0 && folderKey !== '') {
    const stats = await explained('list', folder, async () =>
      statSync(folder, { throwIfNoEntry: false }),
    )
    if (stats) yield { key: folderKey.slice(0, -1), changedAt: stats.mtime }
  }
  for (const entry of entries) {
    const key = keyOf(folderKey, entry)
    if (key?.endsWith('/')) yield* walkEmpty(join(folder, entry.name), key, signal)
  }
}

async function removeEmpty(
  root: string,
  path: string,
  { signal }: StoreCallOptions = {},
): Promise<void> {
  signal?.throwIfAborted()
  let folder = path
  while (folder !== root && (await removeIfEmpty(folder))) folder = dirname(folder)
}

/** Nothing, when it is gone or has never been. */
function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** The key of a file, or what all keys in a folder begin with; `undefined` for all else. */
function keyOf(folderKey: string, entry: Dirent): string | undefined {
  const key = folderKey + entry.name
  if (!isKey(key) || isTemporary(key)) return undefined
  if (entry.isDirectory()) return `${key}/`
  return entry.isFile() ? key : undefined
}

function isSelected(key: string, { prefix, startAfter }: Selection): boolean {
  const isFolder = key.endsWith('/')
  if (!key.startsWith(prefix) && !(isFolder && prefix.startsWith(key))) return false
  if (startAfter === undefined || (isFolder && startAfter.startsWith(key))) return true
  return compareKeys(key, startAfter) > 0
}

async function removeFile(root: string, path: string): Promise<void> {
  if ((await statFile(root, path)) === undefined) return
  await rm(path, { force: true })
  let folder = dirname(path)
  while (folder !== root && (await removeIfEmpty(folder))) folder = dirname(folder)
  await syncFolder(folder).catch((error: unknown) => {
    if (fileErrorCode(error) !== 'ENOENT') throw error
  })
}

/** Whether the folder is gone; one that is in use again, or not ours to remove, stays. */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    return fileErrorCode(error) === 'ENOENT'
  }
}
