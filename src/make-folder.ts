import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/**
 * Makes a folder and the missing ones above it. `onMade` is called after each, the outermost first.
 * Throws what the file system answers.
 *
 * Node's own way (`recursive`) never ends where no folder can be made, such as below `/proc`, and
 * hides that a file system is read-only.
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
