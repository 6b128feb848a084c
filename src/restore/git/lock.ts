// Tested by test/e2e/git-surroundings.test.ts

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DashkeepError } from '../../errors.ts'

/** SQLite's result code for a database that another process has locked (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5

/**
 * Locks a repository against other processes of dashkeep until disposed. The lock is one of the operating
 * system, by way of an empty SQLite database in git's own folder. So it ends with the process, however
 * that ends. Throws a `usage` error when another process holds it.
 */
export function lockRepository(gitDir: string, root: string): Disposable {
  const path = join(gitDir, 'dashkeep.lock')
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new DashkeepError(`Cannot lock ${path}: the file system refuses it`, {
        hint: 'give a folder that this user may write to',
        cause: error,
      })
    }
    throw new DashkeepError(
      `Cannot commit to the git repository ${root}: another dashkeep commits to it`,
      { kind: 'usage', hint: 'run the command again when the other one has ended', cause: error },
    )
  }
}
