import { lstat, rename, rm } from 'node:fs/promises'
import { DashkeepError } from '../errors.ts'
import { openFresh } from '../local-files.ts'

/** Saved objects can hold names of people: only their owner reads what is written. */
export const fileMode = 0o600

/** A file in the making, under another name until it is complete. */
export interface NewFile extends AsyncDisposable {
  write(data: Uint8Array | string): Promise<void>
  /** Closes the file and gives it its name. */
  commit(): Promise<void>
}

/** Small pieces are gathered up to about this much before they are written. */
const GATHERED_BYTES = 256 * 1024

/** Begins a file. Disposing takes away what was not committed. */
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

/** What could not be written, as an error for people. */
export function cannotWrite(
  path: string,
  error: unknown,
  {
    whenAbsent = 'its folder is not there',
    hint = 'give a folder that this user may write to',
  } = {},
): DashkeepError {
  const { code, message } = error as NodeJS.ErrnoException
  const states: Record<string, string> = {
    ENOENT: whenAbsent,
    ENOTDIR: 'its folder is a file',
    EEXIST: 'a file has this name',
    EACCES: 'this user may not write there',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
  }
  return new DashkeepError(`Cannot write ${path}: ${states[code ?? ''] ?? message}`, {
    hint,
    cause: error,
  })
}

/** How a restore into files deals with what is there. */
export interface WriteOptions {
  readonly overwrite?: boolean | undefined
}

/** Throws a `usage` error when one of the files is there. */
export async function refuseExisting(
  paths: readonly string[],
  { overwrite }: WriteOptions,
): Promise<void> {
  if (overwrite) return
  for (const path of paths) {
    if ((await lstat(path).catch(() => undefined)) === undefined) continue
    throw new DashkeepError(`Cannot write ${path}: it is there already`, {
      kind: 'usage',
      hint: 'give another place, or --overwrite',
    })
  }
}
