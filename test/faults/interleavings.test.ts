import { describe, expect, it } from 'vitest'
import { futureToleranceMs } from '../../src/archive/future.ts'
import { applyPrune, planPrune } from '../../src/archive/prune.ts'
import { createMemoryStore, type MemoryStore } from '../archive/memory-store.ts'
import type { Answers } from '../archive/scripted-source.ts'
import { changed, day, keepNewest, take, unchanged, writeHistory } from './history.ts'
import { type Choose, interleave, type Task } from './interleave.ts'
import { expectInvariant } from './invariant.ts'
import { chance, countPoints, longMs, sample, scaled } from './scale.ts'

/** Returns the snapshots it says it has taken, unless a prune may remove them right away. */
type Story = Task<string[]>

function backup(answers: Answers, { second = 0, full = false } = {}): Story {
  return async (store) => [(await take(store, answers, { takenAt: day(5, second), full })).name]
}

/** A backup whose snapshot a prune with another clock takes for an old one. */
function shortLived(answers: Answers): Story {
  return async (store) => {
    await backup(answers)(store)
    return []
  }
}

/** A prune to the newest snapshot; the clock of its machine may be ahead or behind. */
function prune(now: Date): Story {
  return async (store) => {
    for await (const plan of planPrune(store, keepNewest, { now })) {
      for await (const { error } of applyPrune(store, plan, { now })) if (error) throw error
    }
    return []
  }
}

const soon = prune(day(5, 1))
const muchLater = prune(day(9))
const beforehand = prune(day(4, 30))

/** The older half, which the prune is to remove. */
const olderHalf = 2
/** So late that a run of second 0 takes it for the future, and never names its own behind it. */
const later = futureToleranceMs / 1000 + 1
/** For a prune to which the whole history is old, once it sees that a backup has followed. */
const everything = 4

const stories: [what: string, tasks: Story[], doomed?: number][] = [
  ['a backup of changes and a prune', [backup(changed), soon]],
  ['a backup without changes and a prune', [backup(unchanged), soon]],
  ['a backup and a prune whose clock is days ahead', [backup(changed), muchLater], everything],
  [
    'a backup without changes and a prune whose clock is days ahead',
    [backup(unchanged), muchLater],
    everything,
  ],
  ['a backup and a prune whose clock is behind', [backup(changed), beforehand]],
  ['two prunes', [soon, prune(day(5, 2))]],
  ['two backups at the same second', [backup(changed), backup(changed)]],
  ['two backups at the same second without changes', [backup(unchanged), backup(unchanged)]],
  ['two different backups at the same second', [backup(changed), backup(unchanged)]],
  ['a full backup and one without changes', [backup(unchanged, { full: true }), backup(unchanged)]],
  [
    'two backups and a prune',
    [backup(unchanged), backup(changed, { second: 1 }), prune(day(5, 2))],
  ],
  [
    'two backups and a prune whose clock is days ahead',
    [shortLived(unchanged), backup(changed, { second: later }), muchLater],
    everything,
  ],
  ['a backup and two prunes', [backup(unchanged), soon, prune(day(5, 2))]],
]

describe('runs at the same time', () => {
  const tally = countPoints('interleavings of runs, store call by store call')

  it.each(stories)(
    'harm nothing: %s',
    async (what, tasks, number = olderHalf) => {
      const base = createMemoryStore()
      const before = await writeHistory(base)
      const doomed = new Set([...before.keys()].slice(0, number))
      const { steps } = await interleave(copyOf(base), tasks, inTurn)
      expect(steps).toBeGreaterThan(tasks.length * 3)

      for (const [name, choose] of [
        ...sample(switchedTwice(tasks.length, steps), scaled(12, 600), steps),
        ...byChance(scaled(10, 30), steps),
      ]) {
        await tally.point(`${what}: ${name}`, async () => {
          const store = copyOf(base)
          const { outcomes } = await interleave(store, tasks, choose)
          const claimed = outcomes.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
          const nextRun = async () => (await take(store, changed, { takenAt: day(6) })).name
          await expectInvariant(store, { before, doomed, claimed, nextRun })
        })
      }
    },
    longMs,
  )
})

function copyOf({ objects }: MemoryStore): MemoryStore {
  const copy = createMemoryStore()
  for (const [key, bytes] of objects) copy.objects.set(key, bytes)
  return copy
}

const inTurn: Choose = (waiting, step) => waiting[step % waiting.length] as number

/** One task goes first, another one in between for a while, and then again the first. */
function switchedTwice(tasks: number, steps: number): [string, Choose][] {
  const all: [string, Choose][] = []
  for (let first = 0; first < tasks; first += 1) {
    for (let from = 0; from < steps; from += 1) {
      for (let until = from + 1; until <= steps; until += 1) {
        const choose: Choose = (waiting, step) => {
          const others = waiting.filter((at) => at !== first)
          const inBetween = step >= from && step < until
          if (inBetween) return others[0] ?? first
          return waiting.includes(first) ? first : (others[0] as number)
        }
        all.push([`${first} first, others from step ${from} until ${until}`, choose])
      }
    }
  }
  return all
}

function byChance(number: number, stream: number): [string, Choose][] {
  return Array.from({ length: number }, (_, at) => {
    const draw = chance(stream * 1000 + at)
    return [`by chance, ${at}`, (waiting) => waiting[draw(waiting.length)] as number]
  })
}
