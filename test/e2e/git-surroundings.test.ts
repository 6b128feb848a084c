import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changeObjects, day, git, startWithGit, subjectsOf } from './git-story.ts'
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

it('git after a run does not depend on settings of the user for texts and line ends', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await writeFile(
    join(trial.folder, '.gitconfig'),
    '[trailer]\nseparators = "#"\n[i18n]\ncommitEncoding = ISO-8859-1\n[core]\nautocrlf = true\nsafecrlf = true\n',
  )
  const env = { HOME: trial.folder }
  expect((await backUp(1, env)).exitCode).toBe(0)
  changeObjects(trial, 'Grüße')
  expect((await backUp(2, env)).exitCode).toBe(0)
  expect((await backUp(3, env)).exitCode).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
  expect(git(folder, 'log', '-1', '--format=%B')).toContain('changed search Grüße\n')
})

it('a failed push shows no user and no token of the address', async () => {
  const { trial, folder, backUp } = await startWithGit({ push: true })
  await using _ = trial
  await backUp(1)
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  git(folder, 'remote', 'add', 'origin', `http://secret-token@${host}/objects.git`)
  const { exitCode, stdout, stderr } = await backUp(2)
  server.close()
  expect(exitCode).toBe(3)
  expect(stdout).toContain(`could not read Password for 'http://${host}'`)
  expect(stdout + stderr).not.toContain('secret-token')
})
