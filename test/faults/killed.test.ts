import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pMap from 'p-map'
import { describe, expect, it } from 'vitest'
import { createDirectoryStore } from '../../src/store/directory/store.ts'
import { accountsOf, jsonLines } from '../e2e/run-dashkeep.ts'
import { type Spawned, spawnDashkeep } from '../e2e/spawn-dashkeep.ts'
import { readTree, shopId, startTrial, type Trial } from '../e2e/trial.ts'
import { expectInvariant, readGood } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

const hook = fileURLToPath(new URL('kill-at.ts', import.meta.url))

/** The archive is a copy, and the service of each trial has a port of its own. */
const backupArgs = ['backup', '--accept-service']

/** A backup in a process of its own, killed at this call of the file system. */
function spawnBackup({ env }: Trial, killAt?: number): Spawned {
  const changes = {
    DASHKEEP_LOG_LEVEL: 'error',
    ...(killAt !== undefined && { DASHKEEP_TEST_KILL_AT: String(killAt) }),
  }
  return spawnDashkeep(backupArgs, { env: { ...env, ...changes }, node: ['--import', hook] })
}

/** A trial whose account differs from the archive in one dashboard; the archive is a copy. */
async function startFrom(archive: string): Promise<Trial> {
  const trial = await startTrial()
  await cp(archive, trial.archive, { recursive: true })
  const document = Buffer.from(trial.sandbox.objects(shopId, 'dashboard')).toString()
  trial.sandbox.setObjects(shopId, 'dashboard', document.replace('"title":"', '"title":"New '))
  return trial
}

/** Lists, verifies and backs up as people do, and holds the archive to its promise. */
async function expectUnharmed(trial: Trial, base: Trial): Promise<void> {
  const store = createDirectoryStore({ root: trial.archive })
  const good = await readGood(store)
  const list = await trial.run(['list', '--json'])
  const listed = jsonLines(list.stdout).map(({ accountId, snapshot }) => `${accountId}/${snapshot}`)
  expect(listed.toSorted()).toEqual([...good.keys()].toSorted())
  expect((await trial.run(['verify'])).exitCode).toBe(0)
  await expectInvariant(store, {
    before: await readGood(createDirectoryStore({ root: base.archive })),
    async nextRun() {
      const { exitCode, stdout } = await trial.run([...backupArgs, '--json'])
      expect(exitCode).toBe(0)
      const [account] = accountsOf(stdout)
      return `${account?.accountId}/${account?.snapshot}`
    },
  })
}

/** Calls of a backup so far, as the hook says them at its end. */
function callsOf({ stderr }: { stderr: string }): number {
  return (jsonLines(stderr).at(-1) as { calls: number }).calls
}

/**
 * A backup is killed unless it ended before that call: a few calls more or less are made from run to
 * run, as files that are stored at once find their folder made or not.
 */
function expectKilled(ended: Awaited<Spawned['finished']>, place: number): void {
  if (ended.exitCode === 0) expect(callsOf(ended)).toBeLessThan(place)
  else expect(ended.signal).toBe('SIGKILL')
}

describe('a copy that is killed', () => {
  const tally = countPoints('processes killed during a copy into a folder')

  it(
    'holds only whole snapshots, and is completed by the next run, at whatever call of the file system',
    async () => {
      await using trial = await startTrial()
      for (const more of [[], [], ['--full']]) await trial.run(['backup', ...more])
      const whole = await trial.files()
      const spawnCopy = (to: string, killAt?: number) => {
        const changes = killAt === undefined ? {} : { DASHKEEP_TEST_KILL_AT: String(killAt) }
        return spawnDashkeep(['copy', '--to', to, '--log-level', 'error'], {
          env: { ...trial.env, ...changes },
          node: ['--import', hook],
        })
      }
      await using counting = spawnCopy(join(trial.folder, 'counted'))
      const calls = callsOf(await counting.finished)
      expect(calls).toBeGreaterThan(100)

      const places = Array.from({ length: calls }, (_, at) => at + 1)
      const killAt = (place: number) =>
        tally.point(`killed at call ${place} of ${calls}`, async () => {
          const to = join(trial.folder, `copy-${place}`)
          await using copy = spawnCopy(to, place)
          expectKilled(await copy.finished, place)
          const snapshots = jsonLines((await trial.run(['list', '--json', '--store', to])).stdout)
          if (snapshots.length > 0) {
            expect((await trial.run(['verify', '--store', to])).exitCode).toBe(0)
          }
          expect((await trial.run(['copy', '--to', to])).exitCode).toBe(0)
          const copied = [...(await readTree(to))].filter(([key]) => !key.startsWith('.'))
          expect(new Map(copied)).toEqual(whole)
        })
      await pMap(sample(places, scaled(4, 100), 3), killAt, { concurrency: 2 })
    },
    longMs,
  )
})

describe('a backup that is killed', () => {
  const tally = countPoints('processes killed during a backup into a folder')

  it(
    'leaves a sound archive, at any call of the file system',
    async () => {
      await using base = await startTrial()
      for (let turn = 0; turn < 2; turn += 1) await base.run(['backup'])
      await using whole = await startFrom(base.archive)
      await using counting = spawnBackup(whole)
      const finished = await counting.finished
      expect(finished.exitCode).toBe(0)
      const calls = callsOf(finished)
      expect(calls).toBeGreaterThan(80)

      const places = Array.from({ length: calls }, (_, at) => at + 1)
      const killAt = (place: number) =>
        tally.point(`killed at call ${place} of ${calls}`, async () => {
          await using trial = await startFrom(base.archive)
          await using backup = spawnBackup(trial, place)
          expectKilled(await backup.finished, place)
          await expectUnharmed(trial, base)
        })
      await pMap(sample(places, scaled(8, 250), 1), killAt, { concurrency: 2 })
    },
    longMs,
  )

  it(
    'leaves a sound archive, at any moment',
    async () => {
      await using base = await startTrial()
      await base.run(['backup'])
      await using whole = await startFrom(base.archive)
      const begin = performance.now()
      await using measured = spawnBackup(whole)
      await measured.finished
      const tookMs = performance.now() - begin

      const moments = Array.from({ length: 100 }, (_, at) => (at / 100) * tookMs)
      const killAfter = (delayMs: number) =>
        tally.point(`killed after ${delayMs} ms`, async () => {
          await using trial = await startFrom(base.archive)
          await using backup = spawnBackup(trial)
          await wait(delayMs)
          backup.kill('SIGKILL')
          await backup.finished
          await expectUnharmed(trial, base)
        })
      await pMap(sample(moments, scaled(3, 50), 2), killAfter, { concurrency: 2 })
    },
    longMs,
  )
})
