import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/config/duration.ts'
import { shardOf } from '../../src/config/shard.ts'
import { nameOf, startMany } from '../e2e/many-trial.ts'
import { startReceiver } from '../run/notify/receiver.ts'
import type { CronJobSpec } from './relations.ts'
import { containersOf, k8sFolder, type Resource, render } from './render.ts'

const hourMs = 3600_000
const dayMs = 24 * hourMs
const midnight = new Date('2026-11-17T00:00:00Z').getTime()

const resources = await render(join(k8sFolder, 'overlays/many-accounts'))
const [shards, judge] = ['dashkeep', 'dashkeep-judge'].map(
  (name) =>
    resources.find(
      ({ kind, metadata }) => kind === 'CronJob' && metadata.name === name,
    ) as Resource,
) as [Resource, Resource]

/** When a CronJob is due, in milliseconds after midnight. */
function dueMs({ spec }: Resource): number {
  const [minute, hour, ...rest] = (spec as CronJobSpec).schedule.split(' ')
  expect([rest.join(' '), (spec as CronJobSpec).timeZone]).toEqual(['* * *', 'Etc/UTC'])
  return Number(hour) * hourMs + (Number(minute) * hourMs) / 60
}

function argsOf(resource: Resource): readonly string[] {
  return containersOf(resource)[0]?.args ?? []
}

describe('the judge of many accounts', () => {
  it('runs when every shard has ended, and distinguishes snapshots of this night from those of the last', () => {
    const { activeDeadlineSeconds = 0 } = (shards.spec as CronJobSpec).jobTemplate.spec
    const begin = dueMs(shards)
    const end = begin + activeDeadlineSeconds * 1000
    const [, maxAge = ''] = /--max-age=(\w+)/.exec(argsOf(judge).join(' ')) ?? []
    const maxAgeMs = parseDuration(maxAge)
    expect(dueMs(judge)).toBeGreaterThan(end)
    expect(maxAgeMs).toBeGreaterThan(dueMs(judge) - begin)
    expect(maxAgeMs).toBeLessThan(dueMs(judge) - end + dayMs)
  })

  it('pings for all shards, which ping nothing, and notices the one that never ran', async () => {
    const ids = Array.from({ length: 20 }, (_, number) => 501 + number)
    const count = Number(
      containersOf(shards)[0]?.env?.find(({ name }) => name === 'DASHKEEP_SHARDS')?.value,
    )
    const used = [...new Set(ids.map((id) => shardOf(nameOf(id), count)))]
    await using receiver = await startReceiver()
    await using trial = await startMany(ids)
    const env = { ...trial.changes, DASHKEEP_PING_URL: `${receiver.url}/uuid` }
    const backUp = async (night: number, indices: readonly number[]) => {
      const now = new Date(midnight + night * dayMs + dueMs(shards))
      for (const index of indices) {
        const job = { DASHKEEP_SHARDS: `${count}`, JOB_COMPLETION_INDEX: `${index}` }
        const { exitCode } = await trial.runAt(now, argsOf(shards), { ...env, ...job })
        expect(exitCode).toBe(0)
      }
    }
    const judged = async (night: number) => {
      const now = new Date(midnight + night * dayMs + dueMs(judge))
      const { exitCode } = await trial.runAt(now, argsOf(judge), env)
      return [exitCode, receiver.pathsBelow('/uuid')]
    }
    await backUp(0, used.slice(1))
    expect(await judged(0)).toEqual([3, ['/fail']])
    await backUp(1, used)
    expect(await judged(1)).toEqual([0, ['/fail', '']])
    await backUp(2, used.slice(1))
    expect(await judged(2)).toEqual([4, ['/fail', '', '/fail']])
    const late = ids.filter((id) => shardOf(nameOf(id), count) === used[0])
    const told = receiver.received.at(-1)?.body.match(/^stale \S+(?=:)/gm)
    expect(told).toEqual(late.map((id) => `stale ${nameOf(id)}`))
  })
})
