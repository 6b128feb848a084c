import { execFileSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changeObjects, day, git, makeGit, startWithGit, subjectsOf } from './git-story.ts'

it('git after a run does not depend on settings of the user for texts and line ends', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await writeFile(
    join(trial.folder, '.gitconfig'),
    '[trailer]\nseparators = "#"\n[i18n]\ncommitEncoding = ISO-8859-1\n[core]\nautocrlf = true\nsafecrlf = true\nignoreStat = true\ncommentChar = D\n',
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

it.each([
  ['[user]\nname =\nemail =\n', {}],
  ['', { GIT_AUTHOR_NAME: '', GIT_COMMITTER_EMAIL: '' }],
])('commits are of dashkeep with the settings %j and the variables %j', async (settings, env) => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await writeFile(join(trial.folder, '.gitconfig'), settings)
  const { exitCode, stdout } = await backUp(1, { HOME: trial.folder, ...env })
  expect(exitCode, stdout).toBe(0)
  expect(git(folder, 'log', '--format=%an <%ae> %cn <%ce>')).toBe(
    'dashkeep <dashkeep@localhost> dashkeep <dashkeep@localhost>\n',
  )
})

/** A trial that pushes to a bare repository, with a hook `pre-push`. */
async function startWithHook(script: string, section: object = {}) {
  const story = await startWithGit({ push: true, ...section })
  const { trial, folder } = story
  const remote = join(trial.folder, 'remote')
  git(trial.folder, 'init', '--quiet', '--bare', remote)
  git(trial.folder, 'init', '--quiet', folder)
  git(folder, 'remote', 'add', 'origin', remote)
  const writeHook = (name: string, text: string) =>
    writeFile(join(folder, '.git', 'hooks', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  await writeHook('pre-push', script)
  return { ...story, remote, writeHook }
}

describe('hooks', () => {
  it('do not run, except pre-push', async () => {
    const { trial, backUp, writeHook } = await startWithHook('touch ../ran-pre-push')
    await using _ = trial
    for (const name of ['pre-commit', 'commit-msg', 'post-commit', 'post-index-change']) {
      await writeHook(name, `touch "${trial.folder}/ran-${name}"; exit 1`)
    }
    await backUp(1)
    expect((await readdir(trial.folder)).filter((name) => name.startsWith('ran-'))).toEqual([
      'ran-pre-push',
    ])
  })

  it('that hang and ignore signals end with the deadline', async () => {
    const { trial, folder, backUp } = await startWithHook(
      'trap "" TERM INT; exec > ../held; echo waiting; while :; do sleep 1; done',
      { deadline: '2s' },
    )
    await using _ = trial
    // Reading it ends once no process holds it open for writing.
    const held = join(trial.folder, 'held')
    execFileSync('mkfifo', [held])
    const heard = readFile(held, 'utf8')
    const { exitCode, stdout } = await backUp(1)
    expect(exitCode).toBe(3)
    expect(stdout).toContain('not pushed: Cannot finish the commits: it takes longer than 2s')
    expect(await heard).toBe('waiting\n')
    expect(subjectsOf(folder)).toEqual(['Shop: 14 added'])
  })

  it('that leave a process in the background do not hold up a push', async () => {
    const { trial, remote, backUp } = await startWithHook('sleep 8 &', { deadline: '4s' })
    await using _ = trial
    expect((await backUp(1)).exitCode).toBe(0)
    expect(git(remote, 'rev-list', '--all', '--count')).toBe('1\n')
  })

  it('that print much do not fail a push', async () => {
    const { trial, backUp } = await startWithHook('yes | head --bytes=70000000 >&2')
    await using _ = trial
    const { exitCode, stdout } = await backUp(1)
    expect(exitCode, stdout).toBe(0)
  })
})

describe('restore --pretty --git says what to do', () => {
  it('when a git that was killed has left its lock', async () => {
    const { trial, folder } = await startWithGit()
    await using _ = trial
    await trial.runAt(day(1), ['backup'])
    git(trial.folder, 'init', '--quiet', folder)
    await writeFile(join(folder, '.git', 'index.lock'), '')
    const { exitCode, stderr } = await trial.run(['restore', '--pretty', folder, '--git'])
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /index\.lock': File exists.*\nhint: remove this lock file if no git runs/,
    )
  })

  it('when the repository belongs to another user', async () => {
    const { trial, folder } = await startWithGit()
    await using _ = trial
    await trial.runAt(day(1), ['backup'])
    git(trial.folder, 'init', '--quiet', folder)
    const real = `PATH='${process.env.PATH}' GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"`
    const PATH = await makeGit(trial, real)
    const { exitCode, stderr } = await trial.run(['restore', '--pretty', folder, '--git'], { PATH })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('detected dubious ownership in repository at')
    expect(stderr).toContain(`run \`git config --global --add safe.directory ${folder}\``)
  })
})

it('a rejected push says why', async () => {
  const { trial, folder, remote, backUp } = await startWithHook('exit 0')
  await using _ = trial
  await backUp(1)
  const clone = join(trial.folder, 'clone')
  git(trial.folder, 'clone', '--quiet', remote, clone)
  const identity = ['-c', 'user.name=other', '-c', 'user.email=other@example.com']
  git(clone, ...identity, 'commit', '--quiet', '--allow-empty', '--message', 'theirs')
  git(clone, 'push', '--quiet')
  changeObjects(trial, 'Another title')
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode).toBe(3)
  expect(stdout).toContain('failed to push some refs to')
  expect(stdout).toContain(' (fetch first)')
  expect(subjectsOf(folder)).toHaveLength(2)
})

it('an error of git without the usual beginning is shown', async () => {
  const { trial, folder } = await startWithGit()
  await using _ = trial
  await trial.runAt(day(1), ['backup'])
  const failing = `case "$*" in *init*) echo "$PWD/.git: Permission denied" >&2; exit 1;; esac`
  const PATH = await makeGit(trial, `${failing}\nPATH='${process.env.PATH}' exec git "$@"`)
  const { exitCode, stderr } = await trial.run(['restore', '--pretty', folder, '--git'], { PATH })
  expect(exitCode).toBe(1)
  expect(stderr).toContain(`Cannot run git init in ${folder}: ${folder}/.git: Permission denied`)
})

it('output of git that arrives late is not lost', async () => {
  const { trial, folder, backUp } = await startWithGit()
  await using _ = trial
  await backUp(1)
  changeObjects(trial, 'Another title')
  await backUp(2)
  const late = `case "$*" in *" log "*) (sleep 1.2; exec git "$@") & exit 0;; esac`
  const PATH = await makeGit(trial, `PATH='${process.env.PATH}'; ${late}; exec git "$@"`)
  expect((await backUp(3, { PATH })).exitCode).toBe(0)
  expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
})
