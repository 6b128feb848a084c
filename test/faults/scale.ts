import { afterAll } from 'vitest'
import { mix } from '../../src/sandbox/objects/random.ts'

/** Whether everything is tried, or many times as much where something can only be sampled. */
const isFull = process.env.DASHKEEP_TEST_FAULTS === 'full'

/** What every choice by chance begins with; the same seed makes the same choices. */
export const seed = Number(process.env.DASHKEEP_TEST_SEED ?? 1)

/** Whole numbers from 0 to below `bound`, by chance; `stream` tells one scenario from another. */
export function chance(stream: number): (bound: number) => number {
  let drawn = 0
  return (bound) => {
    drawn += 1
    return mix(seed, stream, drawn) % bound
  }
}

/** How many to try: the second number in a full round. */
export function scaled(short: number, full: number): number {
  return isFull ? full : short
}

/** So many of them, chosen by chance, in their order; all when there are no more. */
export function sample<T>(all: readonly T[], wanted: number, stream: number): T[] {
  if (all.length <= wanted) return [...all]
  const draw = chance(stream)
  const places = new Set<number>()
  while (places.size < wanted) places.add(draw(all.length))
  return all.filter((_, place) => places.has(place))
}

/** Enough for a full round on a slow machine. */
export const longMs = 600_000

/** Counts where a fault was tried and where the invariant held. */
export interface Tally {
  /** Tries one point; what `check` throws names it. */
  point(name: string, check: () => Promise<void>): Promise<void>
}

/** A tally that prints itself when the tests of its file are done. */
export function countPoints(scenario: string): Tally {
  let tried = 0
  let held = 0
  afterAll(() => {
    const result = held === tried ? 'at each' : `at ${held} only`
    console.info(
      `faults: ${scenario}: ${tried} points (seed ${seed}), the invariant held ${result}`,
    )
  })
  return {
    async point(name, check) {
      tried += 1
      try {
        await check()
      } catch (cause) {
        throw new Error(`${name} (seed ${seed}): ${(cause as Error).message}`, { cause })
      }
      held += 1
    },
  }
}
