import type { Stats } from 'node:fs'
import { lstat, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { collectBytes } from '../collect.ts'
import { StoreError } from '../errors.ts'
import { guardWriter, type WriterSteps } from '../guarded-writer.ts'
import { checkKey } from '../keys.ts'
import {
  type ObjectStore,
  ObjectTooLargeError,
  type ObjectWriter,
  type StoreCallOptions,
} from '../object-store.ts'
import { explained, fileErrorCode } from './errors.ts'
import { inFolder, removeIfEmpty, syncFolder } from './folders.ts'
import { listFolderKeys, walk, walkEmpty } from './list.ts'
import { isTemporary, listTemporary, openTemporary } from './temporary.ts'

const readSize = 256 * 1024

/**
 * Stores each object as a file below a folder. The key is the path of the file.
 *
 * Writes an object to a temporary file, flushes it to the disk and renames it. So an object is stored
 * completely or not at all, even after a power failure. Writing an existing key replaces the object in
 * the same way. The first object creates the folder. Metadata is not stored.
 *
 * The folder of the store may be a symbolic link. Links below it are neither listed nor written to.
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

    async *listPrefixes({ signal } = {}) {
      signal?.throwIfAborted()
      yield* await listFolderKeys(root)
    },

    async remove(key, { signal } = {}) {
      const path = pathOf(key)
      signal?.throwIfAborted()
      await explained('remove', path, () => removeFile(root, path))
    },

    async *listUnfinished({ signal } = {}) {
      yield* listTemporary(root, signal)
    },

    async *listEmptyFolders({ signal } = {}) {
      for await (const { key, changedAt } of walkEmpty(root, '', signal)) {
        yield { key, changedAt, remove: (options) => removeEmpty(root, pathOf(key), options) }
      }
    },

    async close() {},
  }
}

function reservedKey(key: string): StoreError {
  return new StoreError(
    `Cannot use ${JSON.stringify(key)} as a key: the store uses this folder for unfinished files`,
    { kind: 'usage' },
  )
}

function tooLarge(path: string, size: number, maxBytes: number): StoreError {
  return new ObjectTooLargeError(`Cannot read ${path}: it has ${size} bytes, more than ${maxBytes}`)
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

/** Throws when a folder between the root and a file is a symbolic link, because lists skip links. */
async function refuseLinks(root: string, path: string): Promise<void> {
  const folder = dirname(path)
  if (folder === root) return
  await refuseLinks(root, folder)
  if (!(await isLink(folder))) return
  throw new StoreError(`Cannot write ${path}: ${folder} is a symbolic link, and lists skip links`, {
    kind: 'usage',
    hint: 'replace it with a folder; only the folder of the whole store may be a link',
  })
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(fileErrorCode(error) ?? '')) return false
    throw error
  }
}

async function moveIntoPlace(root: string, from: string, to: string): Promise<void> {
  await inFolder(dirname(to), () => rename(from, to))
  for (let folder = dirname(to); folder !== dirname(root); folder = dirname(folder)) {
    await syncFolder(folder)
  }
}

/** Returns `undefined` when the file does not exist. Throws when the root is not a folder. */
async function statFile(root: string, path: string): Promise<Stats | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() ? stats : undefined
  } catch (error) {
    if (await isAbsence(root, error)) return undefined
    throw error
  }
}

/** Whether the error means that the file does not exist. A root that is a file is another error. */
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

async function removeEmpty(
  root: string,
  path: string,
  { signal }: StoreCallOptions = {},
): Promise<void> {
  signal?.throwIfAborted()
  let folder = path
  while (folder !== root && (await removeIfEmpty(folder))) folder = dirname(folder)
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
