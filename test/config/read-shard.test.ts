import { describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.ts'
import { readShard } from '../../src/config/read-shard.ts'
import { readVariables } from '../../src/config/variables.ts'

async function read(env: Environment, flag?: string) {
  const problems: string[] = []
  const shard = readShard(await readVariables(env), env, { flag, problems })
  return { shard, problems }
}

describe('the shard of a process', () => {
  it('is none unless something names one', async () => {
    expect(await read({ JOB_COMPLETION_INDEX: '1' })).toEqual({ shard: undefined, problems: [] })
  })

  it('comes from the flag rather than from the variable', async () => {
    const { shard, problems } = await read({ DASHKEEP_SHARD: '1/8' }, '2/8')
    expect(shard).toEqual({ index: 2, count: 8 })
    expect(problems).toEqual([])
  })

  it('comes from the index of a Job and the number of shards', async () => {
    const env = { DASHKEEP_SHARDS: '8', JOB_COMPLETION_INDEX: '7' }
    expect((await read(env)).shard).toEqual({ index: 7, count: 8 })
  })

  it.each([
    [{ DASHKEEP_SHARD: '8/8' }, undefined, 'DASHKEEP_SHARD: expected'],
    [{}, 'first', '--shard: expected'],
    [{ DASHKEEP_SHARDS: '8' }, undefined, 'DASHKEEP_SHARDS: set, but JOB_COMPLETION_INDEX is not'],
    [{ DASHKEEP_SHARDS: '2', JOB_COMPLETION_INDEX: '2' }, undefined, '2 shards'],
    [
      { DASHKEEP_SHARD: '0/2', DASHKEEP_SHARDS: '2', JOB_COMPLETION_INDEX: '0' },
      undefined,
      'unset one',
    ],
  ] as [Environment, string | undefined, string][])(
    'is a problem in %j with the flag %s',
    async (env, flag, problem) => {
      expect((await read(env, flag)).problems).toEqual([expect.stringContaining(problem)])
    },
  )
})
