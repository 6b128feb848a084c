import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { until } from './run-dashkeep.ts'
import { spawnDashkeep } from './spawn-dashkeep.ts'
import { readTree, shopId, startTrial, type Trial } from './trial.ts'

const day = (number: number) => new Date(`2026-11-0${number}T03:15:00Z`)
/** The note of a run that has begun to write, in a repository whose root is the folder. */
const rootNote = `dashkeep-${createHash('sha256').update('').digest('hex').slice(0, 12)}`
const secondTitle = 'Another title'

/** Three snapshots: the sample account, one search less and one changed, and the same again. */
async function startWithHistory() {
  const trial = await startTrial()
  await trial.runAt(day(1), ['backup'])
  const [, ...others] = sampleObjects().search
  const text = JSON.stringify(others).replace(/"title":"[^"]*"/, `"title":"${secondTitle}"`)
  trial.sandbox.setObjects(shopId, 'search', JSON.parse(text))
  await trial.runAt(day(2), ['backup'])
  await trial.runAt(day(3), ['backup'])
  const folder = join(trial.folder, 'objects')
  const toGit = (...args: string[]) => trial.run(['restore', '--pretty', folder, '--git', ...args])
  return { trial, folder, toGit, names: await trial.snapshots() }
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A commit of somebody else. */
function commitAsOther(folder: string, ...paths: string[]): void {
  git(folder, 'add', '--', ...paths)
  const identity = ['-c', 'user.name=other', '-c', 'user.email=other@example.com']
  git(folder, ...identity, 'commit', '--quiet', '--message', 'Add a file')
}

async function flipByte(trial: Trial, ending: string): Promise<void> {
  const key = [...(await trial.files()).keys()].find((one) => one.endsWith(ending)) as string
  const path = join(trial.archive, key)
  const bytes = await readFile(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  await writeFile(path, bytes)
}

/** The files of the folder without those of git. */
async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const files = await readTree(folder)
  return new Map([...files].filter(([name]) => !name.startsWith('.git/')).sort())
}

describe('restore --pretty --git', () => {
  it('commits every snapshot, oldest first, and each only once', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    const first = await toGit('--all')
    expect(first.exitCode, first.stderr).toBe(0)
    expect(first.stdout).toContain('2 commits; 1 unchanged snapshot; 0 committed before')
    const log = git(folder, 'log', '--reverse', '--format=%s|%aI|%(trailers:valueonly)')
    expect(log.trim().split(/\n+/)).toEqual([
      `Shop: 14 added|2026-11-01T03:15:00+00:00|100001/${names[0]}`,
      `Shop: 1 changed, 1 removed|2026-11-02T03:15:00+00:00|100001/${names[1]}`,
    ])
    const body = git(folder, 'log', '-1', '--format=%B')
    expect(body).toContain(
      `Snapshot ${names[1]} of account 100001 (Shop), taken 2026-11-02 03:15:00 UTC`,
    )
    expect(body).toContain(`changed search ${secondTitle}\nremoved search Failed orders\n`)
    expect(git(folder, 'status', '--porcelain')).toBe('')

    const again = await toGit('--all', '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      there: 2,
      snapshots: [{ result: 'unchanged' }],
    })
    const single = await toGit('--json')
    expect(JSON.parse(single.stdout)).toMatchObject({ snapshots: [{ result: 'unchanged' }] })
    expect(git(folder, 'rev-list', '--count', 'HEAD')).toBe('2\n')
  })

  it('commits the same files that restore --pretty writes', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    await toGit('--all')
    const commits = git(folder, 'rev-list', '--reverse', 'HEAD').trim().split('\n')
    for (const [at, commit] of commits.entries()) {
      const plain = join(trial.folder, `plain-${at}`)
      await trial.run(['restore', names[at] ?? '', '--pretty', plain])
      git(folder, 'checkout', '--quiet', commit)
      expect(await filesOf(folder)).toEqual(await filesOf(plain))
    }
  })

  it('refuses a snapshot that is older than a committed one', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    expect((await toGit()).exitCode).toBe(0)
    const { exitCode, stderr } = await trial.run([
      'restore',
      names[0] ?? '',
      '--pretty',
      folder,
      '--git',
    ])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`the newer snapshot ${names[2]} is committed already`)
  })

  it('skips suspect snapshots, and names damaged ones', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    trial.sandbox.setObjects(shopId, 'dashboard', [])
    await trial.runAt(day(4), ['backup'])
    const suspect = await toGit('--all')
    expect(suspect.exitCode).toBe(3)
    expect(suspect.stdout).toMatch(/^skipped 20261104T\S+: it is suspect \(/m)
    await rm(folder, { recursive: true })
    await flipByte(trial, `${names[0]}/search.json.zst`)
    const damaged = await toGit('--all')
    expect(damaged.exitCode).toBe(5)
    expect(damaged.stdout).toContain(`damaged ${names[0]}: `)
    expect(git(folder, 'rev-list', '--count', 'HEAD')).toBe('1\n')
  })

  it('continues after a run that was stopped while it wrote', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    const expected = join(trial.folder, 'expected')
    await trial.run(['restore', '--pretty', expected])
    await trial.run(['restore', names[0] ?? '', '--pretty', folder, '--git'])
    await toGit('--all')
    git(folder, 'update-ref', 'HEAD', 'HEAD~1')
    const written = 'dashboard/shop-overview.json'
    await writeFile(join(folder, '.git', rootNote), `${sha256Of('{')}  ${written}\n`)
    await writeFile(join(folder, written), '{')
    const { exitCode, stderr } = await toGit('--all')
    expect(exitCode, stderr).toBe(0)
    expect(git(folder, 'status', '--porcelain')).toBe('')
    expect(await filesOf(folder)).toEqual(await filesOf(expected))
    expect(git(folder, 'rev-list', '--count', 'HEAD')).toBe('2\n')
  })
})

it('commits each snapshot once and completely, however often restore --git is killed', async () => {
  const { trial, folder, toGit } = await startWithHistory()
  await using _ = trial
  const expected = join(trial.folder, 'expected')
  await trial.run(['restore', '--pretty', expected])
  const args = ['restore', '--pretty', folder, '--git', '--all']
  const env = { ...trial.env, PATH: process.env.PATH }
  const moments = [join('.git', rootNote), join('.git', 'logs', 'HEAD')]
  for (const moment of moments) {
    await using killed = spawnDashkeep(args, { env })
    await until(`there is ${moment}`, () => existsSync(join(folder, moment)))
    killed.kill('SIGKILL')
    await killed.finished
  }
  // A git that the killed process has started may still hold its lock.
  await until('the next run is done', async () => (await toGit('--all')).exitCode === 0)
  expect(git(folder, 'status', '--porcelain')).toBe('')
  expect(git(folder, 'rev-list', '--count', 'HEAD')).toBe('2\n')
  expect(await filesOf(folder)).toEqual(await filesOf(expected))
})

describe('restore --pretty --git keeps the files that it did not write', () => {
  it('in the repository around the folder, which gets only the files of the folder', async () => {
    const { trial, folder, toGit } = await startWithHistory()
    await using _ = trial
    git(trial.folder, 'init', '--quiet')
    await mkdir(join(folder, 'search'), { recursive: true })
    await writeFile(join(trial.folder, 'beside.txt'), 'theirs')
    await writeFile(join(folder, 'notes.md'), 'theirs')
    await writeFile(join(folder, 'search', 'mine.json'), 'theirs')
    commitAsOther(trial.folder, 'objects/notes.md')
    const { exitCode, stdout, stderr } = await toGit('--all', '--overwrite')
    expect(exitCode, stderr).toBe(0)
    expect(stdout).toContain(`in the git repository ${trial.folder}`)
    const added = git(trial.folder, 'log', '--name-only', '--format=', '-2').split('\n')
    expect(
      added.filter(
        (name) => !/^$|^objects\/(dashkeep\.|(search|visualization|dashboard)\/)/.test(name),
      ),
    ).toEqual([])
    expect(added).not.toContain('objects/search/mine.json')
    const status = git(trial.folder, 'status', '--porcelain', '--', 'objects', 'beside.txt')
    expect(status).toBe('?? beside.txt\n?? objects/search/mine.json\n')
    expect(String((await readTree(folder)).get('search/mine.json'))).toBe('theirs')
  })

  it('and refuses other staged changes', async () => {
    const { trial, folder, toGit } = await startWithHistory()
    await using _ = trial
    git(trial.folder, 'init', '--quiet')
    await writeFile(join(trial.folder, 'beside.txt'), 'theirs')
    git(trial.folder, 'add', 'beside.txt')
    const { exitCode, stderr } = await toGit()
    expect(exitCode).toBe(2)
    expect(stderr).toContain('other changes are staged, such as beside.txt\nhint: commit them')
    expect(await filesOf(folder)).toEqual(new Map())
  })

  it('and refuses to replace an edited file until the edit is committed', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    await trial.run(['restore', names[0] ?? '', '--pretty', folder, '--git'])
    const edited = 'dashboard/shop-overview.json'
    await writeFile(join(folder, edited), 'edited')
    const refused = await toGit()
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(`${edited}: it has changes that are not committed`)
    expect(await readFile(join(folder, edited), 'utf8')).toBe('edited')
    commitAsOther(folder, edited)
    expect((await toGit()).exitCode).toBe(0)
    expect(git(folder, 'status', '--porcelain')).toBe('')
  })

  it('and keeps one account in a folder', async () => {
    const { trial, folder, toGit } = await startWithHistory()
    await using _ = trial
    await toGit()
    const index = await readFile(join(folder, 'dashkeep.json'), 'utf8')
    await writeFile(join(folder, 'dashkeep.json'), index.replace('100001', '100002'))
    const { exitCode, stderr } = await toGit()
    expect(exitCode).toBe(2)
    expect(stderr).toContain('the folder holds account 100002')
  })
})

describe('restore --pretty --git and the program git', () => {
  it('says when git is missing or too old', async () => {
    const { trial, folder } = await startWithHistory()
    await using _ = trial
    const bin = join(trial.folder, 'bin')
    await mkdir(bin)
    const run = () => trial.run(['restore', '--pretty', folder, '--git'], { PATH: bin })
    const missing = await run()
    expect(missing.exitCode).toBe(2)
    expect(missing.stderr).toContain('Cannot run git: the program is not installed\nhint: install')
    await writeFile(join(bin, 'git'), '#!/bin/sh\necho git version 2.20.1\n', { mode: 0o755 })
    const old = await run()
    expect(old.exitCode).toBe(2)
    expect(old.stderr).toContain('Cannot use git: it has version 2.20')
  })

  it('follows no variable that leads to another repository', async () => {
    const { trial, folder } = await startWithHistory()
    await using _ = trial
    const other = join(trial.folder, 'other')
    git(trial.folder, 'init', '--quiet', other)
    const env = { GIT_DIR: join(other, '.git'), GIT_WORK_TREE: other, GIT_INDEX_FILE: '/dev/null' }
    const done = await trial.run(['restore', '--pretty', folder, '--git'], env)
    expect(done.exitCode, done.stderr).toBe(0)
    expect(git(folder, 'rev-list', '--count', 'HEAD')).toBe('1\n')
    expect(git(folder, 'log', '-1', '--format=%an <%ae>')).toBe('dashkeep <dashkeep@localhost>\n')
    expect(git(other, 'status', '--porcelain')).toBe('')
  })

  it('pushes only when asked', async () => {
    const { trial, folder, toGit, names } = await startWithHistory()
    await using _ = trial
    const remote = join(trial.folder, 'remote')
    git(trial.folder, 'init', '--quiet', '--bare', remote)
    await trial.run(['restore', names[0] ?? '', '--pretty', folder, '--git'])
    const count = () => git(remote, 'rev-list', '--all', '--count')
    expect(count()).toBe('0\n')
    const unreachable = await toGit('--push')
    expect(unreachable.exitCode).toBe(3)
    expect(unreachable.stdout).toContain('not pushed: Cannot push in ')
    git(folder, 'remote', 'add', 'origin', remote)
    const pushed = await toGit('--push')
    expect(pushed.exitCode, pushed.stdout).toBe(0)
    expect(count()).toBe('2\n')
  })

  it.each([
    [['--all'], '--all needs --git'],
    [['--push'], '--push needs --git'],
    [['--git', '--all', 'latest'], '--all and a snapshot exclude each other'],
    [['--git', '--object', 'x'], '--git commits whole snapshots of the archive'],
  ])('refuses %j', async (args, state) => {
    await using trial = await startTrial()
    const folder = join(trial.folder, 'objects')
    const { exitCode, stderr } = await trial.run(['restore', '--pretty', folder, ...args])
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`Cannot restore: ${state}`)
  })
})
