import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openGitRepository } from '../../src/restore/git/git-folder.ts'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { changeObjects, day, git, startWithGit, subjectsOf, writeNote } from './git-story.ts'
import { shopId } from './trial.ts'

describe('git after a run, in a folder of an account that is not in the repository', () => {
  it('commits nothing to a repository of its own, and says so', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    const own = join(folder, String(shopId))
    await trial.runAt(day(1), ['backup'])
    await trial.run(['restore', '--pretty', own, '--git', '--all'])
    changeObjects(trial, 'Another title')
    const { exitCode, stdout } = await backUp(2)
    expect(exitCode).toBe(3)
    expect(stdout).toContain(
      `not committed to git: Cannot commit to ${own}: it does not belong to the git repository ${folder}`,
    )
    expect(subjectsOf(own)).toEqual(['Shop: 14 added'])
    await rm(join(own, '.git'), { recursive: true })
    expect((await backUp(3)).exitCode).toBe(0)
    expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
  })

  it('writes nothing where a link leads', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    const elsewhere = join(trial.folder, 'elsewhere')
    for (const one of [folder, elsewhere]) await mkdir(one)
    await symlink(elsewhere, join(folder, String(shopId)))
    const { exitCode, stdout } = await backUp(1)
    expect(exitCode).toBe(3)
    expect(stdout).toContain('it does not belong to the git repository')
    expect(await readdir(elsewhere)).toEqual([])
  })
})

it.each([
  ['MERGE_HEAD', 'a merge'],
  ['CHERRY_PICK_HEAD', 'a cherry-pick'],
  ['REVERT_HEAD', 'a revert'],
  ['rebase-merge', 'a rebase'],
  ['rebase-apply', 'a rebase'],
  ['BISECT_LOG', 'a bisection'],
])('git after a run commits nothing while there is %s, which means %s', async (name, operation) => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  const head = git(folder, 'rev-parse', 'HEAD')
  await writeFile(join(folder, '.git', name), head)
  changeObjects(trial, 'Another title')
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode).toBe(3)
  expect(stdout).toContain(`${operation} is in progress`)
  expect(git(folder, 'rev-parse', 'HEAD')).toBe(head)
})

it('a file that became a pipe, an endless device or a folder does not hold up a run', async () => {
  const { trial, folder, backUp } = await startWithGit({ deadline: '20s' })
  await using _ = trial
  await backUp(1)
  const path = join(folder, String(shopId), 'search', 'slow-requests.json')
  changeObjects(trial, 'Another title')
  const replacements = [
    () => execFileSync('mkfifo', [path]),
    () => symlink('/dev/zero', path),
    () => mkdir(path),
  ]
  for (const replace of replacements) {
    await rm(path, { recursive: true })
    await replace()
    const { exitCode, stdout } = await backUp(2)
    expect(exitCode).toBe(3)
    expect(stdout).toContain(`Cannot replace ${path}: it has changes that are not committed`)
  }
})

it('a file that somebody edits after a run that failed in between is not replaced', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  changeObjects(trial, 'Another title')
  const lock = join(folder, '.git', 'index.lock')
  await writeFile(lock, '')
  expect((await backUp(2)).stdout).toContain('not committed to git: Cannot run git update-index')
  await rm(lock)
  const account = join(folder, String(shopId))
  const edited = join(account, 'search', 'slow-requests.json')
  const written = await readFile(edited, 'utf8')
  await writeFile(edited, 'edited')
  const refused = await backUp(3)
  expect(refused.exitCode).toBe(3)
  expect(refused.stdout).toContain(
    `Cannot replace ${edited}: it has changes that are not committed`,
  )
  expect(await readFile(edited, 'utf8')).toBe('edited')
  await writeFile(edited, written)
  expect((await backUp(4)).exitCode).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
  expect(git(folder, 'status', '--porcelain')).toBe('')
})

it('a file that an interrupted run wrote for an object that is gone by now is removed', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await trial.runAt(day(1), ['backup'])
  // The first run is stopped before it writes its list.
  const account = join(folder, String(shopId))
  await mkdir(join(account, 'search'), { recursive: true })
  git(trial.folder, 'init', '--quiet', folder)
  await writeFile(join(account, 'search', 'gone.json'), '{}')
  const digest = createHash('sha256').update('{}').digest('hex')
  const lines = `${digest}  search/gone.json\n${digest}  search/incompl`
  await writeNote(folder, `${shopId}/`, lines)
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode, stdout).toBe(0)
  expect(git(folder, 'status', '--porcelain')).toBe('')
  expect(await readdir(join(account, 'search'))).not.toContain('gone.json')
})

it('two processes do not commit to a repository at the same time', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  changeObjects(trial, 'Another title')
  const account = join(folder, String(shopId))
  {
    const { signal } = new AbortController()
    using _other = await openGitRepository(folder, { env: {}, signal })
    const { exitCode, stdout } = await backUp(2)
    expect(exitCode).toBe(3)
    const problem = `Cannot commit to the git repository ${folder}: another dashkeep commits to it`
    expect(stdout).toContain(`not committed to git: ${problem}`)
    const restored = await trial.run(['restore', '--pretty', account, '--git'])
    expect(restored.exitCode).toBe(2)
    expect(restored.stderr).toContain(problem)
  }
  expect((await backUp(3)).exitCode).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
})

it('the folder of one account and the folder with all accounts are not confused', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await trial.runAt(day(1), ['backup'])
  const restore = (path: string) => trial.run(['restore', '--pretty', path, '--git', '--all'])
  expect((await restore(folder)).exitCode).toBe(0)
  changeObjects(trial, 'Another title')
  const refused = await backUp(2)
  expect(refused.exitCode).toBe(3)
  expect(refused.stdout).toContain(`Cannot commit to ${folder}: it holds the objects of an account`)
  expect(await readdir(folder)).not.toContain(String(shopId))
  await rm(folder, { recursive: true })
  expect((await backUp(3)).exitCode).toBe(0)
  const misplaced = await restore(folder)
  expect(misplaced.exitCode).toBe(2)
  expect(misplaced.stderr).toContain(
    `its objects are in a subfolder\nhint: give ${folder}/${shopId}`,
  )
  expect((await restore(join(folder, String(shopId)))).exitCode).toBe(0)
})

it('files that git has checked out with CRLF count as unchanged', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  const clone = join(trial.folder, 'clone')
  git(trial.folder, 'clone', '--quiet', '--config', 'core.autocrlf=true', folder, clone)
  await rm(folder, { recursive: true })
  await rename(clone, folder)
  trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode, stdout).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 removed'])
  expect(git(folder, 'status', '--porcelain')).toBe('')
})

it.each([
  ['./archive', 'is also the address of'],
  ['./archive/git', 'is inside'],
  ['.', 'contains'],
])(
  'a configuration whose git.folder %s is refused, since it %s the archive',
  async (path, state) => {
    const { trial } = await startWithGit()
    await using _ = trial
    const config = await trial.write('overlap.yaml', { git: { folder: path } })
    const { exitCode, stderr } = await trial.run(['config', 'check', '--config', config])
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(new RegExp(`git\\.folder: "file:\\S+" ${state} the archive`))
  },
)

it.each(['20991231T000000Z-abcdef', 'something-else'])(
  'a commit of somebody that claims to be snapshot %s is not in the way of later ones',
  async (snapshot) => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    await backUp(1)
    const identity = ['-c', 'user.name=other', '-c', 'user.email=other@example.com']
    const message = `Subject\n\nDashkeep-Snapshot: ${shopId}/${snapshot}`
    await writeFile(join(folder, String(shopId), 'notes.md'), 'theirs')
    git(folder, 'add', '.')
    git(folder, ...identity, 'commit', '--quiet', '--message', message)
    changeObjects(trial, 'Another title')
    expect((await backUp(2)).exitCode).toBe(0)
    expect(subjectsOf(folder).at(-1)).toBe('Shop: 1 changed')
    const account = join(folder, String(shopId))
    const restored = await trial.run(['restore', '--pretty', account, '--git', '--all'])
    expect(restored.stdout).toContain('0 commits; 0 unchanged snapshots; 2 committed before')
  },
)

it('a file that git is told to assume unchanged is not committed with old content', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  const name = 'search/failed-orders.json'
  git(folder, 'update-index', '--assume-unchanged', `${shopId}/${name}`)
  changeObjects(trial, 'Another title')
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode).toBe(3)
  expect(stdout).toContain(`git is told to assume that ${name} is unchanged`)
  git(folder, 'update-index', '--no-assume-unchanged', `${shopId}/${name}`)
  expect((await backUp(3)).exitCode).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
})
