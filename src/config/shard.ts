import { hash } from 'node:crypto'

/** One of several processes that share the accounts among themselves. */
export interface Shard {
  /** Which one, from 0. */
  readonly index: number
  /** How many there are. */
  readonly count: number
}

/** More processes than that are a slip of the finger, and cost a hash each for every account. */
const MAX_SHARDS = 10_000

/** Reads `0/8`, the first of eight, or returns undefined. */
export function parseShard(text: string): Shard | undefined {
  const [, index, count] = /^\s*(\d{1,5})\/(\d{1,5})\s*$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined) return undefined
  return index < count && count <= MAX_SHARDS ? { index, count } : undefined
}

/**
 * Tells which of several shards has an account, by rendezvous hashing: a name stays where it is
 * whatever other names there are, and one more shard takes over its part of the names and moves
 * no other.
 */
export function shardOf(name: string, count: number): number {
  let [best, highest] = [0, '']
  for (let index = 0; index < count; index += 1) {
    const weight = hash('sha256', `${index}\n${name}`)
    if (weight > highest) [best, highest] = [index, weight]
  }
  return best
}
