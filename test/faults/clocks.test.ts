import { describe, expect, it } from 'vitest'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import { answersWith, day, take, unchanged, writeHistory } from './history.ts'
import { expectInvariant, readGood } from './invariant.ts'
import { chance, countPoints, longMs, sample, scaled } from './scale.ts'

const hour = 3600_000

/** How a clock may differ from one run to the next, in milliseconds. */
const jumps = [0, 1, 999, 1000, hour, 24 * hour, 40 * 24 * hour, 400 * 24 * hour].flatMap((ms) => [
  ms,
  -ms,
])

/** Prunes as of a moment; returns what the plan removes. */
async function prune(store: MemoryStore, now: Date): Promise<Set<string>> {
  const doomed = new Set<string>()
  for await (const plan of planPrune(store, { last: 2, daily: 2 }, { now })) {
    for await (const { accountId, snapshot, error } of applyPrune(store, plan, { now })) {
      if (error) throw error
      doomed.add(`${accountId}/${snapshot}`)
    }
  }
  return doomed
}

describe('a clock that jumps between runs', () => {
  const tally = countPoints('runs and prunes after a jump of the clock')

  it(
    'harms nothing',
    async () => {
      const walks = Array.from({ length: 500 }, (_, walk) => walk)
      for (const walk of sample(walks, scaled(15, 300), 1)) await takeWalk(walk)
    },
    longMs,
  )

  async function takeWalk(walk: number): Promise<void> {
    const draw = chance(1000 + walk)
    const store = createMemoryStore()
    let before = await writeHistory(store)
    let now = day(5)
    for (let step = 0; step < 10; step += 1) {
      now = new Date(now.getTime() + (jumps[draw(jumps.length)] ?? 0))
      const act = draw(3)
      const name = `walk ${walk}, step ${step}: ${act === 0 ? 'prune' : 'backup'} at ${now.toISOString()}`
      await tally.point(name, async () => {
        const run = { takenAt: now }
        const doomed = act === 0 ? await prune(store, now) : undefined
        const answers = act === 1 ? unchanged : answersWith(name)
        const claimed = act === 0 ? [] : [(await take(store, answers, run)).name]
        const nextRun = async () => (await take(store, answers, run)).name
        await expectInvariant(store, { before, ...(doomed && { doomed }), claimed, nextRun })
      })
      before = await readGood(store)
      expect(before.size).toBeGreaterThan(0)
    }
  }
})
