import { lstat, rename, rm } from 'node:fs/promises'
import { DashkeepError } from '../errors.ts'
import { describeFileError, openFresh, readSmallFile } from '../local-files.ts'

/** Only the owner can read the files: saved objects can contain names of people. */
const fileMode = 0o600

/** A new file. It has another name until it is complete. */
export interface NewFile extends AsyncDisposable {
  write(data: Uint8Array | string): Promise<void>
  /** Closes the file and gives it its name. */
  commit(): Promise<void>
}

/** Small pieces are collected up to about this size before they are written. */
const GATHERED_BYTES = 256 * 1024

/** Creates a file. Disposing removes it, unless it was committed. */
export async function createNewFile(path: string): Promise<NewFile> {
  const unfinished = `${path}.part`
  const explained = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step()
    } catch (error) {
      throw cannotWrite(path, error)
    }
  }
  const file = await explained(() => openFresh(unfinished, fileMode))
  let gathered: Uint8Array[] = []
  let bytes = 0
  const flush = async () => {
    const data = Buffer.concat(gathered)
    gathered = []
    bytes = 0
    await file.writeFile(data)
  }
  return {
    async write(data) {
      const piece = typeof data === 'string' ? Buffer.from(data) : data
      gathered.push(piece)
      bytes += piece.length
      if (bytes >= GATHERED_BYTES) await explained(flush)
    },
    commit: () =>
      explained(async () => {
        await flush()
        await file.close()
        await rename(unfinished, path)
      }),
    async [Symbol.asyncDispose]() {
      await file.close()
      await rm(unfinished, { force: true })
    },
  }
}

/**
 * Writes a file in one step. Leaves a file that has this text already as it is. Calls `onWrite` before it
 * writes.
 */
export async function writeWhole(
  path: string,
  text: string,
  onWrite?: () => Promise<void> | undefined,
): Promise<void> {
  if (await holdsText(path, text)) return
  await onWrite?.()
  try {
    const unfinished = `${path}.part`
    await using file = await openFresh(unfinished, fileMode)
    await file.writeFile(text)
    await rename(unfinished, path)
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

async function holdsText(path: string, text: string): Promise<boolean> {
  const maxBytes = Buffer.byteLength(text)
  const found = await readSmallFile(path, { maxBytes, noLinks: true }).catch(() => undefined)
  return found === text
}

/** The error for a file that could not be written. */
export function cannotWrite(
  path: string,
  error: unknown,
  {
    whenAbsent = 'its folder is not there',
    hint = 'give a folder that this user may write to',
  } = {},
): DashkeepError {
  const { code } = error as NodeJS.ErrnoException
  const state = code === 'ENOENT' ? whenAbsent : describeFileError(error)
  return new DashkeepError(`Cannot write ${path}: ${state}`, { hint, cause: error })
}

/** Options for existing files. */
export interface WriteOptions {
  readonly overwrite?: boolean | undefined
}

/** Throws a `usage` error when one of the files exists. */
export async function refuseExisting(
  paths: readonly string[],
  { overwrite }: WriteOptions,
): Promise<void> {
  if (overwrite) return
  for (const path of paths) {
    if ((await lstat(path).catch(() => undefined)) === undefined) continue
    throw new DashkeepError(`Cannot write ${path}: it is there already`, {
      kind: 'usage',
      hint: 'give another path, or --overwrite',
    })
  }
}
