import { existsSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { runDashkeep } from './run-dashkeep.ts'
import { startTrial } from './trial.ts'

/** Where Linux has a folder in which nobody can make another. */
const place = '/proc/dashkeep'

const cases: [what: string, args: string[], env: Environment, exitCode: number, message: RegExp][] =
  [
    [
      'documents',
      ['restore', '--to', `${place}/x`],
      {},
      1,
      /Cannot write \S+: the folder cannot be created/,
    ],
    [
      'files for git',
      ['restore', '--pretty', `${place}/x`],
      {},
      1,
      /Cannot write \S+: the folder cannot be created/,
    ],
    [
      'NDJSON',
      ['restore', '--ndjson', `${place}/x`],
      {},
      1,
      /Cannot write \S+: its folder is not there/,
    ],
    [
      'the archive',
      ['backup'],
      { DASHKEEP_STORE: `file://${place}/x` },
      2,
      /Cannot write \S+: the folder cannot be created/,
    ],
    [
      'a demo',
      ['demo', '--folder', `${place}/x`],
      {},
      1,
      /Cannot write \S+: the folder cannot be created/,
    ],
    [
      'metrics',
      ['backup'],
      { DASHKEEP_METRICS_TEXTFILE: `${place}/x.prom` },
      0,
      /ENOENT.*metrics not exported/,
    ],
  ]

it.skipIf(!existsSync('/proc/self'))(
  'a place that takes no folders is named at once, for everything that dashkeep writes',
  async () => {
    await using trial = await startTrial()
    await trial.run(['backup'])
    for (const [what, args, env, expected, message] of cases) {
      const { exitCode, stdout, stderr } = await trial.run(args, env)
      expect(`${what}: ${stderr}${stdout}`).toMatch(message)
      expect(`${what}: ${exitCode}`).toBe(`${what}: ${expected}`)
    }
  },
)

it('a demo without a temporary folder says which options give it one', async () => {
  vi.stubEnv('TMPDIR', '/proc/dashkeep')
  try {
    const { exitCode, stderr } = await runDashkeep(['demo'], { env: {} })
    expect(stderr).toMatch(/^error: Cannot write \/proc\/dashkeep: there is no such folder\n/)
    expect(stderr).toMatch(/\nhint: .*--folder <folder>.*--tmpfs \/tmp/)
    expect(exitCode).toBe(1)
  } finally {
    vi.unstubAllEnvs()
  }
})
