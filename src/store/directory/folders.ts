import { type Dirent, readdirSync } from 'node:fs'
import { open, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../local-files.ts'
import { fileErrorCode } from './errors.ts'

/** Exports can hold personal data: only the user that writes them may read them. */
const folderMode = 0o700

/** How often another process may remove a folder between its creation and its use. */
const maxFolderRaces = 20

/** Creates the folder if it is missing, and acts in it. Tries again if another process removes it. */
export async function inFolder<T>(folder: string, act: () => Promise<T>): Promise<T> {
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
export async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r')
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EACCES'].includes(fileErrorCode(error) ?? '')) throw error
  }
}

/** Nothing, when it is gone or has never been. */
export function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Whether the folder is gone; one that is in use again, or not ours to remove, stays. */
export async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    return fileErrorCode(error) === 'ENOENT'
  }
}
