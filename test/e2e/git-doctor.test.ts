import { existsSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { git, makeGit, startWithGit, writeNote } from './git-story.ts'
import { shopId, type Trial } from './trial.ts'

async function examine(trial: Trial, config: string, changes = {}) {
  const { stdout } = await trial.run(['doctor', '--json', '--config', config], changes)
  const { findings } = JSON.parse(stdout) as { findings: { check: string }[] }
  return findings.filter(({ check }) => check === 'git')
}

it('doctor names the git repository, and creates none', async () => {
  const { trial, folder, config, backUp } = await startWithGit()
  await using _ = trial
  const ok = (where: string) => [
    { check: 'git', result: 'ok', detail: `runs are committed to ${folder}, ${where}` },
  ]
  expect(await examine(trial, config)).toEqual(ok('which the next run creates'))
  expect(existsSync(folder)).toBe(false)
  await backUp(1)
  expect(await examine(trial, config)).toEqual(ok(`in the git repository ${folder}`))
  await rm(folder, { recursive: true })
  git(trial.folder, 'init', '--quiet')
  expect(await examine(trial, config)).toEqual(ok(`in the git repository ${trial.folder}`))
})

it.each<[string, (folder: string, trial: Trial) => unknown, RegExp]>([
  [
    'is a file',
    async (folder) => {
      await rm(folder, { recursive: true })
      await writeFile(folder, '')
    },
    /^Cannot write \S+\/objects: /,
  ],
  [
    'holds an account',
    (folder) =>
      rename(join(folder, String(shopId), 'dashkeep.json'), join(folder, 'dashkeep.json')),
    /it holds the objects of an account/,
  ],
  [
    'has a rebase in progress',
    (folder) => mkdir(join(folder, '.git', 'rebase-merge')),
    /a rebase is in progress$/,
  ],
  [
    'has a lock of git',
    (folder) => writeFile(join(folder, '.git', 'index.lock'), ''),
    /objects\/\.git\/index\.lock is there$/,
  ],
  [
    'has staged changes of somebody else',
    async (folder) => {
      await writeFile(join(folder, 'notes.md'), 'theirs')
      git(folder, 'add', 'notes.md')
    },
    /other changes are staged, such as notes\.md$/,
  ],
  [
    'is ignored by the repository around it',
    async (folder, trial) => {
      await rm(join(folder, '.git'), { recursive: true })
      git(trial.folder, 'init', '--quiet')
      await writeFile(join(trial.folder, '.gitignore'), 'objects\n')
    },
    /ignores this folder$/,
  ],
  [
    'leads into the archive',
    async (folder, trial) => {
      await rename(folder, join(trial.archive, 'objects'))
      await symlink(join(trial.archive, 'objects'), folder)
    },
    /^Cannot commit to \S+\/objects: it is inside the archive$/,
  ],
])('doctor warns when the git folder %s', async (_state, change, detail) => {
  const { trial, folder, config, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  await change(folder, trial)
  const found = { check: 'git', result: 'warning', detail: expect.stringMatching(detail) }
  expect(await examine(trial, config)).toMatchObject([{ ...found, hint: expect.any(String) }])
})

it('doctor warns when git does not trust the repository', async () => {
  const { trial, config, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  const real = `PATH='${process.env.PATH}' GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"`
  const PATH = await makeGit(trial, real)
  expect(await examine(trial, config, { PATH })).toMatchObject([
    { result: 'warning', detail: expect.stringContaining('detected dubious ownership') },
  ])
})

it('doctor does not warn of what a killed run has staged, and leaves it staged', async () => {
  const { trial, folder, config, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  await writeNote(folder, `${shopId}/`)
  git(folder, 'rm', '--quiet', '--cached', `${shopId}/dashkeep.json`)
  expect(await examine(trial, config)).toMatchObject([{ result: 'ok' }])
  expect(git(folder, 'diff', '--cached', '--name-only')).toBe(`${shopId}/dashkeep.json\n`)
})

it('doctor warns when a push is configured without a remote', async () => {
  const { trial, folder, config, backUp } = await startWithGit({ push: true })
  await using _ = trial
  const warning = (command: string) => [
    {
      result: 'warning',
      detail: expect.stringContaining('has no remote'),
      hint: expect.stringContaining(command),
    },
  ]
  expect(await examine(trial, config)).toMatchObject(warning(`git init ${folder}`))
  await backUp(1)
  expect(await examine(trial, config)).toMatchObject(warning(`git -C ${folder} remote add origin`))
  git(folder, 'remote', 'add', 'origin', join(trial.folder, 'remote'))
  expect(await examine(trial, config)).toMatchObject([{ result: 'ok' }])
})

it('a run commits nothing to a folder that leads into the archive', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  const inside = join(trial.archive, 'objects')
  await mkdir(inside, { recursive: true })
  await symlink(inside, folder)
  const { exitCode, stdout } = await backUp(1)
  expect(exitCode).toBe(3)
  expect(stdout).toContain(`Cannot commit to ${folder}: it is inside the archive`)
  expect(existsSync(join(inside, '.git'))).toBe(false)
})
