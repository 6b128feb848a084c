import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { day, git, subjectsOf, writeNote } from './git-story.ts'
import { accountsFrom, startTrial } from './trial.ts'

/** Two accounts in one repository. A run was killed after it had staged the files of account 502. */
async function startInterrupted() {
  const trial = await startTrial({ accounts: accountsFrom([501, 502]) })
  const accounts = [501, 502].map((accountId) => ({
    name: `team-${accountId}`,
    token: { env: `TOKEN_${accountId}` },
  }))
  const config = await trial.write('git.yaml', { accounts, git: { folder: './objects' } })
  const env = { DASHKEEP_API_TOKEN: undefined, TOKEN_501: 'token-501', TOKEN_502: 'token-502' }
  const backUp = (number: number, ...args: string[]) =>
    trial.runAt(day(number), ['backup', '--accept-fall', '--config', config, ...args], env)
  await backUp(1)
  const folder = join(trial.folder, 'objects')
  const account = join(folder, '502')
  const [lost = ''] = git(account, 'ls-files', 'search').split('\n')
  await writeNote(folder, '502/')
  await rm(join(account, lost))
  await writeFile(join(account, 'dashkeep.json'), '{"formatVersion":1,"exports":{}}')
  git(folder, 'add', '--all')
  trial.sandbox.setObjects(501, 'search', [])
  return { trial, config, env, folder, account, backUp }
}

const staged = (folder: string) => git(folder, 'diff', '--cached', '--name-only')

describe('what a killed run has staged of an account', () => {
  it('does not hinder other accounts when that account has left the archive', async () => {
    const { trial, folder, backUp } = await startInterrupted()
    await using _ = trial
    await rm(join(trial.archive, '502'), { recursive: true })
    const { exitCode, stdout } = await backUp(2, '--account', 'team-501')
    expect(exitCode, stdout).toBe(0)
    expect(subjectsOf(folder).at(-1)).toMatch(/^Account 501: /)
    expect(git(folder, 'show', '--name-only', '--format=')).not.toContain('502/')
    expect(staged(folder)).toBe('')
    expect((await backUp(3)).exitCode).toBe(0)
    expect(git(folder, 'status', '--porcelain')).toBe('')
  })

  it('does not hinder other accounts when its folder is gone too', async () => {
    const { trial, folder, account, backUp } = await startInterrupted()
    await using _ = trial
    await rm(join(trial.archive, '502'), { recursive: true })
    await rm(account, { recursive: true })
    const { exitCode, stdout } = await backUp(2, '--account', 'team-501')
    expect(exitCode, stdout).toBe(0)
    expect(git(folder, 'show', '--name-only', '--format=')).not.toContain('502/')
  })

  it('does not hinder other accounts when somebody has edited its files since', async () => {
    const { trial, account, folder, backUp } = await startInterrupted()
    await using _ = trial
    const [edited = ''] = git(account, 'ls-files', 'dashboard').split('\n')
    await writeFile(join(account, edited), 'edited')
    const { stdout } = await backUp(2)
    expect(stdout).toContain(`${join(account, edited)}: it has changes that are not committed`)
    expect(stdout).not.toContain('are staged')
    expect(subjectsOf(folder).at(-1)).toMatch(/^Account 501: /)
  })

  it('does not hinder restore --pretty --git of another account', async () => {
    const { trial, config, env, folder } = await startInterrupted()
    await using _ = trial
    await trial.runAt(day(2), ['backup', '--accept-fall'], { DASHKEEP_API_TOKEN: 'token-501' })
    const to = ['--pretty', join(folder, '501'), '--git']
    const args = ['restore', '--account', '501', '--config', config, ...to]
    const { exitCode, stderr } = await trial.run(args, env)
    expect(exitCode, stderr).toBe(0)
    expect(subjectsOf(folder).at(-1)).toMatch(/^Account 501: /)
  })

  it('stays staged during a merge, which may have staged it too', async () => {
    const { trial, folder, backUp } = await startInterrupted()
    await using _ = trial
    const before = staged(folder)
    await writeFile(join(folder, '.git', 'MERGE_HEAD'), git(folder, 'rev-parse', 'HEAD'))
    expect((await backUp(2)).stdout).toContain('a merge is in progress')
    expect(before).toContain('502/')
    expect(staged(folder)).toBe(before)
  })
})

it('files that somebody else has staged beside those of a killed run stay staged, and are named', async () => {
  const { trial, folder, account, backUp } = await startInterrupted()
  await using _ = trial
  await writeFile(join(account, 'notes.md'), 'theirs')
  git(account, 'add', 'notes.md')
  const { exitCode, stdout } = await backUp(2)
  expect(exitCode).toBe(3)
  expect(stdout).toContain('other changes are staged, such as 502/notes.md')
  expect(staged(folder)).toBe('502/notes.md\n')
})
