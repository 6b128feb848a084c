import { writeSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { shardOf } from '../../src/config/shard.ts'
import { leaveOut } from '../left-out.ts'
import { type ManyTrial, nameOf, startMany } from './many-trial.ts'
import { accountsOf, jsonLines, until } from './run-dashkeep.ts'
import { type Spawned, spawnDashkeep } from './spawn-dashkeep.ts'
import { types } from './trial.ts'

const wanted = process.env.DASHKEEP_TEST_LOAD === '1'

if (!wanted) leaveOut('a run over a thousand accounts', 'with DASHKEEP_TEST_LOAD=1 on Linux')

const ids = Array.from({ length: 1000 }, (_, number) => 10_001 + number)
const shards = [0, 1, 2, 3, 4, 5, 6, 7]
/** Of a container that is killed beyond it, as in `k8s/`. */
const memoryLimit = 256 * 1024 ** 2
const timeout = 600_000

/** As the image runs it in a container with this limit. */
const node = ['--max-semi-space-size=1', '--max-old-space-size=128']

/** Exports of an account come in turn, after the question whose token it is. */
const requestsEach = types.length + 1

function idsOfShard(index: number): number[] {
  return ids.filter((id) => shardOf(nameOf(id), shards.length) === index)
}

describe.skipIf(!wanted)('a thousand accounts', { timeout }, () => {
  let trial: ManyTrial
  beforeEach(async () => {
    // An account's second request at a time is refused, and a refusal is not tried again.
    trial = await startMany(ids, { maxConcurrent: 1 })
  }, timeout)
  afterEach(() => trial[Symbol.asyncDispose]())

  function spawnBackup(...args: string[]): Spawned {
    const env = { ...process.env, ...trial.env, ...trial.changes }
    const given = Object.entries(env).filter(([, value]) => value !== undefined)
    return spawnDashkeep(['backup', '--json', ...args], { env: Object.fromEntries(given), node })
  }

  /** Waits for a run; tells what it took beside how it ended. */
  async function measure(what: string, running: Spawned) {
    const begun = performance.now()
    const peak = watchMemory(running.pid)
    const finished = await running.finished
    const seconds = (performance.now() - begun) / 1000
    const memory = await peak
    const mib = Math.round(memory / 1024 ** 2)
    writeSync(2, `${what}: ${seconds.toFixed(1)} s, ${mib} MiB at most\n`)
    return { ...finished, memory }
  }

  /** Each account has exactly one snapshot, proven, and was never asked two things at once. */
  async function expectEachOnce(): Promise<void> {
    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    expect(listed.map(({ accountId }) => accountId)).toEqual(ids)
    const verified = jsonLines((await trial.run(['verify', '--json'])).stdout)
    expect(verified).toMatchObject([{ snapshots: ids.length, defects: 0 }])
    expect(ids.filter((id) => trial.sandbox.highWater(id) !== 1)).toEqual([])
  }

  it('each have their snapshot after one run of one process, in little memory', async () => {
    await using running = spawnBackup()
    const { exitCode, stdout, stderr, memory } = await measure('one process', running)
    expect(exitCode).toBe(0)
    expect(accountsOf(stdout).map(({ result }) => result)).toEqual(ids.map(() => 'first'))
    expect(stderr).not.toContain('retrying')
    expect(memory).toBeGreaterThan(0)
    expect(memory).toBeLessThan(memoryLimit)
    expect(trial.sandbox.requests().at(-1)?.number).toBe(ids.length * requestsEach)
    await expectEachOnce()
  })

  it('are shared by eight processes side by side, each account by one', async () => {
    const runs = shards.map(async (index) => {
      await using running = spawnBackup('--shard', `${index}/${shards.length}`)
      return await measure(`shard ${index}`, running)
    })
    const finished = await Promise.all(runs)
    for (const [index, { exitCode, stdout, stderr, memory }] of finished.entries()) {
      expect(exitCode).toBe(0)
      expect(accountsOf(stdout).map(({ accountId }) => accountId)).toEqual(idsOfShard(index))
      expect(stderr).not.toContain('retrying')
      expect(memory).toBeLessThan(memoryLimit)
    }
    await expectEachOnce()
  })

  it('lose only those of a shard that is killed, and these only until it runs again', async () => {
    const victim = 3
    const own = idsOfShard(victim)
    const runs = shards.map(async (index) => {
      await using running = spawnBackup('--shard', `${index}/${shards.length}`)
      if (index === victim) {
        await until('it is in the middle of its work', async () => {
          const asked = own.filter((id) => trial.sandbox.highWater(id) > 0)
          return asked.length > own.length / 3
        })
        running.kill('SIGKILL')
      }
      return await running.finished
    })
    const finished = await Promise.all(runs)
    expect(finished.map(({ signal }) => signal)[victim]).toBe('SIGKILL')
    const exitCodes = finished.map(({ exitCode }) => exitCode)
    expect(exitCodes.toSpliced(victim, 1)).toEqual(new Array(7).fill(0))

    const listed = jsonLines((await trial.run(['list', '--json'])).stdout)
    const kept = new Set(listed.map(({ accountId }) => accountId as number))
    const missing = ids.filter((id) => !kept.has(id))
    expect(missing.length).toBeGreaterThan(0)
    expect(missing.length).toBeLessThan(own.length)
    expect(missing.filter((id) => !own.includes(id))).toEqual([])

    await using again = spawnBackup('--shard', `${victim}/${shards.length}`)
    const { exitCode, stdout } = await again.finished
    expect(exitCode).toBe(0)
    const results = accountsOf(stdout).map(({ result }) => result)
    expect(results.filter((result) => result === 'first')).toHaveLength(missing.length)
    expect(results.filter((result) => result === 'unchanged')).toHaveLength(
      own.length - missing.length,
    )
    const args = ['status', '--json', '--max-age', '1d']
    const { stdout: status } = await trial.run(args, trial.changes)
    expect(accountsOf(status).map(({ state }) => state)).toEqual(ids.map(() => 'good'))
  })
})

/** The most memory a process ever held, in bytes, as the kernel counts it; looks until it is gone. */
async function watchMemory(pid: number): Promise<number> {
  let peak = 0
  for (;;) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
    if (kilobytes === undefined) return peak
    peak = Number(kilobytes) * 1024
    await wait(20)
  }
}
