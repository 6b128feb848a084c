import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runDashkeep } from './run-dashkeep.ts'

/** What bash offers for the last of these words. */
async function complete(words: readonly string[]): Promise<string[]> {
  const { stdout: script } = await runDashkeep(['completion', 'bash'], { env: {} })
  const ask = `COMP_WORDS=(dashkeep "$@"); COMP_CWORD=$#; _dashkeep; echo "\${COMPREPLY[@]}"`
  const { stdout } = spawnSync('bash', ['-c', `${script}\n${ask}`, 'bash', ...words])
  return String(stdout).trim().split(' ')
}

describe('completion', () => {
  it.runIf(spawnSync('bash', ['--version']).status === 0)(
    'in bash offers verbs and options',
    async () => {
      expect(await complete(['b'])).toEqual(['backup'])
      expect(await complete(['accounts', 'rep'])).toEqual(['replace'])
      expect(await complete(['backup', '--full', '--acc'])).toEqual([
        '--account',
        '--accept-fall',
        '--accept-service',
      ])
      expect(await complete(['config', ''])).toContain('check')
      expect(await complete(['completion', 'z'])).toEqual(['zsh'])
      expect(await complete(['help', 'acc'])).toEqual(['accounts'])
      expect(await complete(['hel'])).toEqual(['help'])
    },
  )

  it.runIf(spawnSync('bash', ['--version']).status === 0)(
    'in bash leaves the value of an option to the files there are',
    async () => {
      expect(await complete(['backup', '--config', ''])).toEqual([''])
      expect(await complete(['backup', '-c', ''])).toEqual([''])
      expect(await complete(['backup', '--full', ''])).toContain('--account')
    },
  )

  it.each(['bash', 'zsh', 'fish'])('for %s names every verb', async (shell) => {
    const { exitCode, stdout } = await runDashkeep(['completion', shell], { env: {} })
    expect(exitCode).toBe(0)
    for (const verb of ['backup', 'worker', 'restore', 'move-capacity', 'completion']) {
      expect(stdout).toContain(verb)
    }
  })

  it('refuses a shell that it does not know', async () => {
    const { exitCode, stderr } = await runDashkeep(['completion', 'tcsh'], { env: {} })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Cannot print a completion script for tcsh')
    expect(stderr).toContain('bash, zsh, fish')
  })
})

describe('help', () => {
  it('explains a verb as --help does', async () => {
    const { exitCode, stdout } = await runDashkeep(['help', 'backup'], { env: {} })
    expect(exitCode).toBe(0)
    expect(stdout).toBe((await runDashkeep(['backup', '--help'], { env: {} })).stdout)
    const nested = await runDashkeep(['help', 'accounts', 'list'], { env: {} })
    expect(nested.stdout).toContain('Usage: dashkeep accounts list')
    const whole = await runDashkeep(['help'], { env: {} })
    expect(whole.stdout).toContain('Usage: dashkeep [options]')
  })

  it.each([
    [['bakup'], 'Cannot find the verb bakup: dashkeep has no such verb', 'did you mean backup?'],
    [
      ['config', 'xyz'],
      'Cannot find the verb xyz: dashkeep config has no such verb',
      '`dashkeep config --help`',
    ],
  ])('names a verb that it does not know: %s', async (words, message, hint) => {
    const { exitCode, stdout, stderr } = await runDashkeep(['help', ...words], { env: {} })
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${message}\nhint: ${hint}`)
  })
})
