import { describe, expect, it } from 'vitest'
import { shardOf } from '../../src/config/shard.ts'
import { nameOf, startMany } from './many-trial.ts'
import { accountsOf } from './run-dashkeep.ts'

const ids = Array.from({ length: 12 }, (_, number) => 501 + number)

function idsOf(stdout: string): unknown[] {
  return accountsOf(stdout).map(({ accountId }) => accountId)
}

function idsOfShard(index: number, count: number): number[] {
  return ids.filter((id) => shardOf(nameOf(id), count) === index)
}

describe('a run over one shard', () => {
  it('takes its own accounts, and all shards together take each once', async () => {
    await using trial = await startMany(ids)
    const taken: unknown[] = []
    for (const index of [0, 1, 2]) {
      const args = ['backup', '--json', '--shard', `${index}/3`]
      const { exitCode, stdout, stderr } = await trial.run(args, trial.changes)
      expect(exitCode).toBe(0)
      expect(idsOf(stdout)).toEqual(idsOfShard(index, 3))
      expect(stderr).toContain(`"shard":{"index":${index},"count":3}`)
      taken.push(...idsOf(stdout))
    }
    expect(taken.toSorted()).toEqual(ids)
    expect(await trial.snapshots()).toHaveLength(ids.length)
  })

  it.each([[{ DASHKEEP_SHARD: '2/3' }], [{ DASHKEEP_SHARDS: '3', JOB_COMPLETION_INDEX: '2' }]])(
    'is told by variables, which the flag goes over: %j',
    async (variables) => {
      await using trial = await startMany(ids)
      const { stdout } = await trial.run(['backup', '--json'], { ...trial.changes, ...variables })
      expect(idsOf(stdout)).toEqual(idsOfShard(2, 3))
      const flag = ['backup', '--json', '--shard', '0/3']
      const other = await trial.run(flag, { ...trial.changes, ...variables })
      expect(idsOf(other.stdout)).toEqual(idsOfShard(0, 3))
    },
  )

  it('is done at once, and well, when it has no account', async () => {
    await using trial = await startMany([501])
    const empty = shardOf(nameOf(501), 2) === 0 ? '1/2' : '0/2'
    const { exitCode, stdout } = await trial.run(['backup', '--shard', empty], trial.changes)
    expect(exitCode).toBe(0)
    expect(stdout).toContain('0 of 0 accounts in ')
    expect(trial.sandbox.requests()).toEqual([])
  })

  it('concerns of the accounts asked for only its own', async () => {
    await using trial = await startMany(ids)
    const args = ['backup', '--json', '--account', 'team-50?', '--shard', '1/3']
    const { stdout } = await trial.run(args, trial.changes)
    expect(idsOf(stdout)).toEqual(idsOfShard(1, 3).filter((id) => id < 510))
  })

  it.each([
    [
      { DASHKEEP_SHARD: '3/3' },
      'DASHKEEP_SHARD: expected index/number, such as 0/8 (the first of 8)',
    ],
    [{ DASHKEEP_SHARDS: '3' }, 'DASHKEEP_SHARDS: set, but JOB_COMPLETION_INDEX is not'],
    [
      { DASHKEEP_SHARDS: '3', JOB_COMPLETION_INDEX: '3' },
      'DASHKEEP_SHARDS: 3 shards have none with the index 3',
    ],
  ])('is refused when it makes no sense: %j', async (variables, problem) => {
    await using trial = await startMany([501])
    const { exitCode, stderr } = await trial.run(['backup'], { ...trial.changes, ...variables })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(problem)
    expect(trial.sandbox.requests()).toEqual([])
  })
})

describe('accounts asked for by a glob', () => {
  it('are all that fit, each once, in the order asked for', async () => {
    await using trial = await startMany(ids)
    const args = ['backup', '--json', '--account', 'team-*2', 'team-50?']
    const { stdout } = await trial.run(args, trial.changes)
    expect(idsOf(stdout)).toEqual([502, 512, 501, 503, 504, 505, 506, 507, 508, 509])
  })

  it('are refused when none fits, and a glob is not a part of a name', async () => {
    await using trial = await startMany(ids)
    for (const glob of ['eam-*', 'TEAM-*', 'team-5?']) {
      const { exitCode, stderr } = await trial.run(['backup', '-a', glob], trial.changes)
      expect(exitCode).toBe(2)
      expect(stderr).toContain(
        `Cannot find an account that matches ${glob}: the configuration has no`,
      )
    }
  })
})
