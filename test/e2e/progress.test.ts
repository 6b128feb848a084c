import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sampleObjects } from '../../src/sandbox/sample-account.ts'
import { richId, startAccounts } from './accounts-trial.ts'
import { watchDashkeep } from './run-dashkeep.ts'
import { shop, shopId, startTrial } from './trial.ts'

/** A step of the progress, with its time: `verifying · 2 snapshots · 0:00`. */
const step = /<<[a-z][^<\n]* · \d+:\d\d/

function isPlain(text: string): boolean {
  return !['<<', '\r', '\x1b'].some((sequence) => text.includes(sequence))
}

/** An archive of three snapshots of an account that has lost a search since. */
async function startWithHistory() {
  const trial = await startTrial({ extraOperations: true, accounts: [shop()] })
  await trial.run(['backup'])
  trial.sandbox.setObjects(shopId, 'search', sampleObjects().search.slice(1))
  await trial.run(['backup'])
  await trial.run(['backup', '--full'])
  return { trial, env: { ...trial.env, NO_COLOR: '1' } }
}

const verbs: [string, ...string[]][] = [
  ['backup'],
  ['verify'],
  ['list'],
  ['ls'],
  ['status'],
  ['history', 'Shop overview'],
  ['find', 'orders', '--all'],
  ['diff', 'latest~2', 'latest'],
  ['diff', 'latest'],
  ['prune', '--keep-last', '9'],
  ['restore', 'latest~2', '--to-service', '--yes'],
  ['restore', '--drill'],
  ['cat', 'Shop overview'],
  ['whoami'],
  ['doctor'],
]

describe('on a terminal', () => {
  it('every verb that can take long says how far it is, and leaves nothing of that', async () => {
    const { trial, env } = await startWithHistory()
    await using _ = trial
    for (const args of [...verbs, ['restore', '--to', join(trial.folder, 'files')]]) {
      const { exitCode, written, screen } = await watchDashkeep(args, { env })
      expect([args, exitCode]).toEqual([args, 0])
      expect(written, args.join(' ')).toMatch(step)
      expect(screen.filter((line) => / · \d+:\d\d/.test(line))).toEqual([])
      expect(screen.at(-1)).toBe('')
    }
  })

  it.each([
    ['Shop overview', 'reading · 0 of 3 files · 0:00'],
    ['search', 'reading · 0 of 1 file · 0:00'],
  ])('cat says how much of it there is to read: %s', async (object, progress) => {
    const { trial, env } = await startWithHistory()
    await using _ = trial
    const { written } = await watchDashkeep(['cat', object], { env })
    expect(written).toContain(`<<${progress}`)
  })

  it('lines of the log have a line to themselves', async () => {
    const { trial, env } = await startWithHistory()
    await using _ = trial
    trial.sandbox.faults.add({ operation: 'export', status: 503, times: 2 })
    const { exitCode, written, screen } = await watchDashkeep(['backup', '--verbose'], { env })
    expect(exitCode).toBe(0)
    const logged = screen.filter((line) => line.includes('retrying'))
    expect(logged).toHaveLength(2)
    for (const line of logged) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] WARN: retrying/)
    expect(written).toMatch(/retrying [^\n]*\n<<backing up · 0 of 1 account · 0:00/)
  })

  it.each([['--quiet'], ['--json']])('nothing is drawn with %s', async (flag) => {
    const { trial, env } = await startWithHistory()
    await using _ = trial
    for (const args of [['backup'], ['verify'], ['list']]) {
      const { exitCode, written } = await watchDashkeep([...args, flag], { env })
      expect([exitCode, isPlain(written)]).toEqual([0, true])
    }
  })
})

describe('a body that accounts update --dry-run prints', () => {
  it('begins a line of its own', async () => {
    await using trial = await startAccounts()
    const args = ['accounts', 'update', String(richId), '--retention-days', '9', '--dry-run']
    const { exitCode, screen } = await watchDashkeep(args, {
      env: { ...trial.env, NO_COLOR: '1' },
    })
    expect([exitCode, screen.includes('{')]).toEqual([0, true])
  })
})

describe('in a pipe', () => {
  it('nothing is drawn', async () => {
    const { trial } = await startWithHistory()
    await using _ = trial
    for (const args of [['backup'], ['verify'], ['list']]) {
      const { stdout, stderr } = await trial.run(args)
      expect(isPlain(stdout + stderr)).toBe(true)
    }
  })
})
