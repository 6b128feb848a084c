import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { program, spawnProcess } from './spawn-dashkeep.ts'
import { startTrial } from './trial.ts'

/** A file that never ends, as a mistyped path may name it. */
const endless = '/dev/zero'

describe.skipIf(!existsSync(endless))('a file that never ends is refused', () => {
  const cases: [what: string, args: string[], env: Environment, problem: RegExp][] = [
    [
      'as the token',
      ['backup'],
      { DASHKEEP_API_TOKEN: undefined, DASHKEEP_API_TOKEN_FILE: endless },
      /DASHKEEP_API_TOKEN_FILE: \/dev\/zero is too large/,
    ],
    ['as a configuration', ['list'], { DASHKEEP_CONFIG: endless }, / \/dev\/zero is too large/],
    [
      'as settings of a sub account',
      ['accounts', 'replace', '100002', endless],
      {},
      /^error: Cannot read \/dev\/zero: it is too large/,
    ],
    [
      'as the journal of a move',
      ['accounts', 'move-capacity', '--resume', '--journal', endless],
      {},
      /^error: Cannot read the journal \/dev\/zero: it is too large/,
    ],
  ]

  it.each(cases)('%s', async (_what, args, env, problem) => {
    await using trial = await startTrial()
    const { exitCode, stderr } = await trial.run(args, env)
    expect(stderr).toMatch(problem)
    expect(exitCode).toBe(2)
  })

  it('as settings of a sub account that come through a pipe', async () => {
    await using trial = await startTrial()
    const line = `exec "$0" "$1" accounts replace 100002 - < ${endless}`
    await using child = spawnProcess('/bin/sh', ['-c', line, process.execPath, program], {
      env: trial.env,
    })
    const { exitCode, stderr } = await child.finished
    expect(stderr).toMatch(/^error: Cannot read the document: it is too large/)
    expect(exitCode).toBe(2)
  })

  it('as an object of a folder to restore from', async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    const folder = join(trial.folder, 'git')
    await trial.run(['restore', '--pretty', folder])
    const config = await trial.write('small.yaml', { limits: { maxHitBytes: 10_000 } })
    await writeFile(join(folder, 'search', 'large.json'), Buffer.alloc(161_000, ' '))
    const args = ['restore', '--from', folder, '--to-service', '--config', config]
    const { exitCode, stderr } = await trial.run(args)
    expect(stderr).toMatch(/^error: Cannot restore from \S+\/large.json: it is too large/)
    expect(exitCode).toBe(2)
  })
})
