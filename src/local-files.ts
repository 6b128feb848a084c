// Tested by test/e2e/unwritable-places.test.ts

import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Creates a folder and its missing parents. Calls `onMade` after each, the outermost first. Throws the
 * errors of the file system.
 *
 * Node's `recursive` option never returns where no folder can be created, such as in `/proc`, and hides
 * that a file system is read-only.
 */
export async function makeFolder(
  folder: string,
  options: { mode?: number; onMade?: (folder: string) => Promise<void> } = {},
): Promise<void> {
  if (await isFolder(folder)) return
  const parent = dirname(resolve(folder))
  if (parent !== resolve(folder)) await makeFolder(parent, options)
  try {
    await mkdir(folder, options.mode)
  } catch (error) {
    if (await isFolder(folder)) return
    throw error
  }
  await options.onMade?.(folder)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR'].includes(code)) return false
    throw error
  }
}

/**
 * Opens a new file for writing and replaces an existing one. Replaces a symbolic link and does not follow
 * it, because it could lead anywhere.
 */
export async function openFresh(path: string, mode: number): Promise<FileHandle> {
  await rm(path, { force: true })
  return open(path, 'wx', mode)
}

/** Size of the chunks in which files are read. */
const MAX_CHUNK_BYTES = 64 * 1024

/**
 * Reads a small text file. Throws the errors of the file system, `EFBIG` for more than `maxBytes`, also
 * for an endless device, and `EILSEQ` for text that is not UTF-8. With `noLinks`, throws `ELOOP` for a symbolic link and for anything else
 * that is not a file.
 */
export async function readSmallFile(
  path: string,
  { maxBytes, noLinks = false }: { maxBytes: number; noLinks?: boolean },
): Promise<string> {
  await using file = await (noLinks ? openWithoutLinks(path) : open(path))
  // A stream takes a whole buffer for each read, by default one of 64 KiB.
  const highWaterMark = Math.min(maxBytes + 1, MAX_CHUNK_BYTES)
  return await gatherText(file.createReadStream({ autoClose: false, highWaterMark }), maxBytes)
}

/**
 * Opens a file for reading. Throws the errors of the file system, and `ELOOP` for a symbolic link and for
 * anything else that is not a file.
 */
export async function openWithoutLinks(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  // Without `O_NONBLOCK`, opening a pipe without a writer never returns.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw fileError('ELOOP', 'it is a symbolic link')
}

/** Describes why a file or folder cannot be read or written, for a message after its path. */
export function describeFileError(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return states[code ?? ''] ?? `the file system refuses it (${code ?? 'unknown reason'})`
}

const states: Readonly<Record<string, string>> = {
  EACCES: 'this user has no right to it',
  EEXIST: 'it is there already',
  EFBIG: 'it is too large',
  EILSEQ: 'it is not UTF-8 text',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  EPERM: 'this user has no right to it',
  EROFS: 'the file system is read-only',
}

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/**
 * Collects a text that arrives in chunks. Throws `EFBIG` for more than `maxBytes`, and `EILSEQ` for text
 * that is not UTF-8.
 */
export async function gatherText(
  chunks: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): Promise<string> {
  const gathered: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw fileError('EFBIG', 'it is too large')
    gathered.push(Buffer.from(chunk as Uint8Array))
  }
  const text = Buffer.concat(gathered)
  if (!isUtf8(text)) throw fileError('EILSEQ', 'it is not UTF-8 text')
  return text.toString()
}
