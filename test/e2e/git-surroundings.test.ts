import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changeObjects, git, startWithGit, subjectsOf } from './git-story.ts'

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
