// Tested by test/e2e/git-doctor.test.ts

import { existsSync } from 'node:fs'
import { access, constants, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DashkeepError } from '../../errors.ts'
import { cannotWrite } from '../new-file.ts'
import { createGit, type GitOptions, lockHint } from './git.ts'
import { refuseIgnored, tryFindRoot } from './git-folder.ts'
import { refuseOperation, refuseStaged, splitStaged } from './staged.ts'

/**
 * Checks whether a run can commit to a folder and, with `push`, has a remote. Changes nothing, and takes
 * no lock, because a run could need it now. Returns the root of the repository; undefined when the next
 * run has to create one. Throws the first problem.
 */
export async function examineGitFolder(
  folder: string,
  { push, ...options }: GitOptions & { readonly push: boolean },
): Promise<string | undefined> {
  const git = await createGit(await findFolder(folder, folder), options)
  const root = await tryFindRoot(git)
  if (root !== undefined) {
    const gitDir = (await git.run(['rev-parse', '--absolute-git-dir'])).trimEnd()
    await refuseUnwritable(gitDir, gitDir)
    refuseOperation(gitDir, folder)
    refuseStaged((await splitStaged(git, gitDir)).others, folder)
    refuseLock(join(gitDir, 'index.lock'), folder)
    await refuseIgnored(git, folder, root)
  }
  if (push && (root === undefined || (await git.run(['remote'])) === '')) {
    const init = root === undefined ? `\`git init ${folder}\` and ` : ''
    throw new DashkeepError(`Cannot push from ${folder}: the repository has no remote`, {
      kind: 'usage',
      hint: `run ${init}\`git -C ${root ?? folder} remote add origin ADDRESS\``,
    })
  }
  return root
}

/** The folder or, if it does not exist, the nearest one above it, in which it would be created. */
async function findFolder(path: string, wanted: string): Promise<string> {
  if (!existsSync(path) && dirname(path) !== path) return findFolder(dirname(path), wanted)
  await refuseUnwritable(path, wanted)
  return realpath(path)
}

/** Throws when nothing can be created in a folder. The message names `wanted`. */
async function refuseUnwritable(path: string, wanted: string): Promise<void> {
  await access(`${path}/.`, constants.W_OK).catch((error) => {
    throw cannotWrite(wanted, error)
  })
}

function refuseLock(path: string, folder: string): void {
  if (!existsSync(path)) return
  throw new DashkeepError(`Cannot commit to ${folder}: ${path} is there`, {
    kind: 'usage',
    hint: lockHint,
  })
}
