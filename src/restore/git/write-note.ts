// Tested by test/e2e/git-surroundings.test.ts

import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cannotWrite } from '../new-file.ts'
import { formatLine, isAsWritten, parseLine, readList, writeList } from '../written-list.ts'

/**
 * A note in git's own folder that files are being written. It lists them, so that the next run can tell
 * what an interrupted run has written from what somebody has edited since.
 */
export interface WriteNote {
  /** Creates the note. It stays until it is removed. */
  begin(): Promise<void>
  /** Adds a file that is about to be written, with the SHA-256 of its content. */
  add(name: string, sha256: string): Promise<void>
  /**
   * Adds what an interrupted run has written to the folder's list of written files. Returns whether there
   * was such a run.
   */
  adopt(): Promise<boolean>
  remove(): Promise<void>
}

/** The path of the note for a folder, in git's own folder. `prefix` is the folder's path from the root. */
export function noteOf(gitDir: string, prefix: string): string {
  return join(gitDir, `dashkeep-${hash('sha256', prefix).slice(0, 12)}`)
}

/** Creates the functions for the note `path` about the files of a folder. */
export function createWriteNote(path: string, folder: string): WriteNote {
  const explained = (done: Promise<void>) =>
    done.catch((error) => {
      throw cannotWrite(path, error)
    })
  return {
    begin: () => explained(writeFile(path, '')),
    add: (name, sha256) => explained(appendFile(path, formatLine(name, sha256))),
    async adopt() {
      if (!existsSync(path)) return false
      const list = await readList(folder)
      for (const line of (await readFile(path, 'utf8')).split('\n')) {
        // The last line can be incomplete, after a full disk.
        const file = parseLine(line)
        if (file === undefined) continue
        const { name, sha256 } = file
        if (await isAsWritten(folder, name, new Map([[name, sha256]]))) list.set(name, sha256)
      }
      await writeList(folder, list)
      return true
    },
    remove: () => rm(path, { force: true }),
  }
}
