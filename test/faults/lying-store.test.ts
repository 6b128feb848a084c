import { describe, expect, it } from 'vitest'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import type { Answers } from '../archive/scripted-source.ts'
import { createFaultyStore, type FaultyStore, type Strike, storeFaults } from './faulty-store.ts'
import { changed, day, keepNewest, take, types, unchanged, writeHistory } from './history.ts'
import { expectInvariant, type GoodSnapshots } from './invariant.ts'
import { countPoints, longMs, sample, scaled } from './scale.ts'

/** A run in which the store goes wrong; returns the snapshots it says it has taken. */
interface Story {
  readonly what: string
  readonly begins: 'empty' | 'with four days'
  run(store: FaultyStore): Promise<string[]>
}

function backup(what: string, begins: Story['begins'], answers: Answers, full = false): Story {
  return {
    what,
    begins,
    run: async (store) => [
      (await take(store, answers, { takenAt: day(5), full, signal: store.impatience })).name,
    ],
  }
}

const stories: Story[] = [
  backup('a first backup', 'empty', unchanged),
  backup('a backup of what has changed', 'with four days', changed),
  backup('a backup of what has not changed', 'with four days', unchanged),
  backup('a full backup', 'with four days', unchanged, true),
  {
    what: 'a prune',
    begins: 'with four days',
    async run(store) {
      const options = { now: day(6), signal: store.impatience }
      for await (const plan of planPrune(store, keepNewest, options)) {
        await Array.fromAsync(applyPrune(store, plan, options))
      }
      return []
    },
  },
]

async function archiveFor({ begins }: Story): Promise<{ store: MemoryStore; good: GoodSnapshots }> {
  const store = createMemoryStore()
  return { store, good: begins === 'empty' ? new Map() : await writeHistory(store) }
}

function copyOf({ objects }: MemoryStore): MemoryStore {
  const copy = createMemoryStore()
  for (const [key, bytes] of objects) copy.objects.set(key, bytes)
  return copy
}

/** The older half, which the prune is to remove; backups remove nothing. */
function doomedBy({ what }: Story, good: GoodSnapshots): Set<string> {
  return new Set(what === 'a prune' ? [...good.keys()].slice(0, 2) : [])
}

describe('a store that goes wrong at any call', () => {
  const tally = countPoints('store calls that fail, hang or lie')

  it.each(stories)(
    'harms nothing in $what',
    async (story) => {
      const { store: base, good: before } = await archiveFor(story)
      const sound = createFaultyStore(copyOf(base))
      await story.run(sound)
      expect(sound.calls()).toBeGreaterThan(types.length)
      const strikes = everyStrike(sound.calls())
      for (const strike of sample(strikes, scaled(75, Number.POSITIVE_INFINITY), strikes.length)) {
        const store = copyOf(base)
        const faulty = createFaultyStore(store, strike)
        const claimed = await story.run(faulty).catch(() => [])
        if (faulty.struck() === 0) continue
        await tally.point(`${story.what}: ${JSON.stringify(strike)}`, async () => {
          const nextRun = async () => (await take(store, changed, { takenAt: day(7) })).name
          const doomed = doomedBy(story, before)
          await expectInvariant(store, { before, doomed, claimed, nextRun })
        })
      }
    },
    longMs,
  )
})

/** Each kind at each call: there alone, and from there on. */
function everyStrike(calls: number): Strike[] {
  return Array.from({ length: calls }, (_, at) => at).flatMap((at) =>
    storeFaults.flatMap((kind) => [false, true].map((lasting) => ({ kind, at, lasting }))),
  )
}
