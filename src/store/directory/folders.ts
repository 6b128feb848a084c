import { type Dirent, readdirSync } from 'node:fs'
import { open, rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../local-files.ts'
import { fileErrorCode } from './errors.ts'

/** Only the user that writes exports may read them: they can contain personal data. */
const folderMode = 0o700

/** Maximum number of times that another process may remove the folder before it is used. */
const maxFolderRaces = 20

/** Creates the folder if it is missing, and runs `act`. Tries again if another process removes it. */
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

/** Flushes the names in a folder to the disk. Some mounts do not support this. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, 'r')
    await handle.sync()
  } catch (error) {
    if (!['EINVAL', 'ENOTSUP', 'EACCES'].includes(fileErrorCode(error) ?? '')) throw error
  }
}

/** Reads a folder. Returns an empty list when it does not exist. */
export function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes an empty folder. Returns whether it is gone; it stays when it is not empty or not removable. */
export async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (error) {
    return fileErrorCode(error) === 'ENOENT'
  }
}
