import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startWorker } from '../worker/start-worker.ts'
import {
  changeObjects,
  day,
  git,
  makeGit,
  startWithGit,
  subjectsOf,
  writeNote,
} from './git-story.ts'
import { accountsFrom, readTree, shopId, startTrial } from './trial.ts'

describe('git after a run', () => {
  it('gets a commit for each run that changes something, in a folder for the account', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    expect((await backUp(1)).exitCode).toBe(0)
    changeObjects(trial, 'Another title')
    expect((await backUp(2)).exitCode).toBe(0)
    const before = git(folder, 'rev-parse', 'HEAD')
    expect((await backUp(3)).exitCode).toBe(0)
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(before)
    expect(subjectsOf(folder)).toEqual(['Shop: 14 added', 'Shop: 1 changed'])
    const plain = join(trial.folder, 'plain')
    await trial.run(['restore', '--pretty', plain])
    expect(await readTree(join(folder, String(shopId)))).toEqual(await readTree(plain))
    expect(git(folder, 'status', '--porcelain')).toBe('')
  })

  it('gets the snapshots that earlier runs did not commit, oldest first', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    await trial.runAt(day(1), ['backup'])
    await trial.runAt(day(2), ['backup'])
    changeObjects(trial, 'Another title')
    await trial.runAt(day(3), ['backup'])
    expect((await backUp(4)).exitCode).toBe(0)
    const dates = git(folder, 'log', '--reverse', '--format=%as').trim().split('\n')
    expect(dates).toEqual(['2026-11-01', '2026-11-03'])
  })

  it('gives each account of the run a folder in one repository', async () => {
    await using trial = await startTrial({ accounts: accountsFrom([501, 502]) })
    const accounts = [501, 502].map((accountId) => ({
      name: `team-${accountId}`,
      token: { env: `TOKEN_${accountId}` },
    }))
    const section = { folder: './objects' }
    const config = await trial.write('git.yaml', { accounts, git: section })
    const env = { DASHKEEP_API_TOKEN: undefined, TOKEN_501: 'token-501', TOKEN_502: 'token-502' }
    const { exitCode, stderr } = await trial.run(['backup', '--config', config], env)
    expect(exitCode, stderr).toBe(0)
    const folder = join(trial.folder, 'objects')
    expect(git(folder, 'ls-tree', '--name-only', 'HEAD').trim().split('\n')).toEqual(['501', '502'])
    expect(subjectsOf(folder)).toHaveLength(2)

    // A run that was killed between the two steps of the commit of one account.
    await writeNote(folder, '502/')
    await writeFile(join(folder, '502', 'dashkeep.json'), '{"formatVersion":1,"exports":{}}')
    git(folder, 'add', '502')
    trial.sandbox.setObjects(501, 'search', [])
    const next = await trial.run(
      ['backup', '--accept-fall', '--account', 'team-501', '--config', config],
      env,
    )
    expect(next.stdout).not.toContain('not committed')
    expect(subjectsOf(folder).at(-1)).toMatch(/^Account 501: /)
    expect(git(folder, 'status', '--porcelain')).toBe('')
  })

  it('is pushed when configured, and a failed push leaves a good backup', async () => {
    const { trial, folder, backUp } = await startWithGit({ push: true })
    await using _ = trial
    const failed = await backUp(1)
    expect(failed.exitCode).toBe(3)
    expect(failed.stdout).toContain('warning not pushed: Cannot push in ')
    const remote = join(trial.folder, 'remote')
    git(trial.folder, 'init', '--quiet', '--bare', remote)
    git(folder, 'remote', 'add', 'origin', remote)
    expect((await backUp(2)).exitCode).toBe(0)
    expect(git(remote, 'rev-list', '--all', '--count')).toBe('1\n')
  })

  it('that is not installed makes the run exit 3, and fails nothing', async () => {
    const { trial, backUp, config } = await startWithGit()
    await using _ = trial
    const bin = join(trial.folder, 'empty')
    await mkdir(bin)
    const { exitCode, stdout } = await backUp(1, { PATH: bin })
    expect(exitCode).toBe(3)
    expect(stdout).toContain(
      'warning not committed to git: Cannot run git: the program is not installed',
    )
    expect(await trial.snapshots()).toHaveLength(1)
    const doctor = await trial.run(['doctor', '--config', config], { PATH: bin })
    expect(doctor.stdout).toMatch(/^warning git: Cannot run git: the program is not installed/m)
    expect((await trial.run(['doctor', '--config', config])).stdout).toMatch(/^ok +git: /m)
  })

  it('that hangs ends after its deadline', async () => {
    const { trial, backUp } = await startWithGit({ deadline: '1s' })
    await using _ = trial
    const bin = await makeGit(trial, 'exec sleep 600')
    const { exitCode, stdout } = await backUp(1, { PATH: `${bin}:${process.env.PATH}` })
    expect(exitCode).toBe(3)
    expect(stdout).toContain('not committed to git: Cannot finish the commits: it takes longer')
  })

  it('keeps an edited file, and says so', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    await backUp(1)
    changeObjects(trial, 'Another title')
    const [edited = ''] = git(folder, 'ls-files', '*/search/*').split('\n')
    await writeFile(join(folder, edited), 'edited')
    const { exitCode, stdout } = await backUp(2)
    expect(exitCode).toBe(3)
    expect(stdout).toContain('it has changes that are not committed')
    expect((await readTree(folder)).get(edited)?.toString()).toBe('edited')
  })

  it('names a damaged snapshot, and commits the others', async () => {
    const { trial, folder, backUp } = await startWithGit()
    await using _ = trial
    await trial.runAt(day(1), ['backup'])
    const key = [...(await trial.files()).keys()].find((one) => one.includes('search.json'))
    await writeFile(join(trial.archive, key ?? ''), 'damaged')
    const { exitCode, stdout } = await backUp(2)
    expect(exitCode).toBe(3)
    expect(stdout).toMatch(/not committed to git: snapshot 20261101T\S+: /)
    expect(subjectsOf(folder)).toEqual(['Shop: 14 added'])
  })

  it('gets nothing of another archive that --store names', async () => {
    const { trial, folder, config } = await startWithGit()
    await using _ = trial
    const other = join(trial.folder, 'other')
    expect((await trial.run(['backup', '--config', config, '--store', other])).exitCode).toBe(0)
    expect(existsSync(folder)).toBe(false)
  })

  it('gets the runs of a worker, also when a copy fails', async () => {
    await using trial = await startTrial()
    const folder = join(trial.folder, 'objects')
    await trial.write('second', 'a file where the copy should be')
    const config = await trial.write('git.yaml', {
      schedule: { cron: '0 * * * *' },
      git: { folder },
      copies: [{ name: 'broken', url: './second' }],
    })
    const env = { ...trial.env, PATH: process.env.PATH, DASHKEEP_CONFIG: config }
    await using worker = await startWorker({ trial, env, start: '2026-11-20T12:01:00Z' })
    await worker.untilEnded(1)
    expect(subjectsOf(folder)).toEqual(['Shop: 14 added'])
    expect(worker.log().find(({ msg }) => msg === 'run ended')).toMatchObject({ exitCode: 3 })
  })

  it('needs the key of encrypted snapshots', async () => {
    const { trial } = await startWithGit()
    await using _ = trial
    const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
    const config = await trial.write('locked.yaml', {
      git: { folder: './objects' },
      encryption: { recipients: [recipient] },
    })
    const { exitCode, stderr } = await trial.run(['config', 'check', '--config', config])
    expect(exitCode).toBe(2)
    expect(stderr).toContain('git: needs encryption.identity')
  })
})
