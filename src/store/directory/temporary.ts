import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UnfinishedWrite } from '../object-store.ts'
import { explained } from './errors.ts'
import { inFolder, readFolder, removeIfEmpty } from './folders.ts'

/**
 * Folder of temporary files. It is below the root, so that a rename moves a file into place. A file is
 * named `<UTC second>-<random>`, which shows the age of a file that a killed process left.
 */
const temporaryFolder = '.dashkeep-tmp'

/** Whether a key is the folder of temporary files, or is inside it. */
export function isTemporary(key: string): boolean {
  return key === temporaryFolder || key.startsWith(`${temporaryFolder}/`)
}

/** Only the user that writes exports may read them: they can contain personal data. */
const fileMode = 0o600

/** Creates a temporary file with a new name, and opens it for writing. */
export async function openTemporary(root: string): Promise<{ path: string; handle: FileHandle }> {
  const second = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const path = join(root, temporaryFolder, `${second}-${randomBytes(8).toString('hex')}`)
  const handle = await inFolder(dirname(path), () => open(path, 'wx', fileMode))
  return { path, handle }
}

/** Lists the temporary files of a store. */
export async function* listTemporary(
  root: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<UnfinishedWrite> {
  const folder = join(root, temporaryFolder)
  const entries = await explained('list', folder, async () => readFolder(folder))
  for (const { name } of entries) {
    signal?.throwIfAborted()
    const startedAt = temporaryTime(name)
    if (startedAt) yield describeUnfinished(join(folder, name), startedAt)
  }
}

/** When a temporary file was created, by its name; `undefined` for other files. */
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
