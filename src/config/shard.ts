import { hash } from 'node:crypto'

/** One of several processes, each of which backs up a part of the accounts. */
export interface Shard {
  /** Index of the shard, from 0. */
  readonly index: number
  /** Number of shards. */
  readonly count: number
}

/** A larger number is a typing error. Each shard costs one hash for each account. */
const MAX_SHARDS = 10_000

/** Reads `0/8`, the first of eight, or returns undefined. */
export function parseShard(text: string): Shard | undefined {
  const [, index, count] = /^\s*(\d{1,5})\/(\d{1,5})\s*$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined) return undefined
  return index < count && count <= MAX_SHARDS ? { index, count } : undefined
}

/**
 * Returns the shard of an account, by rendezvous hashing. Other accounts do not influence it.
 * Adding a shard moves accounts to the new shard only.
 */
export function shardOf(name: string, count: number): number {
  let [best, highest] = [0, '']
  for (let index = 0; index < count; index += 1) {
    const weight = hash('sha256', `${index}\n${name}`)
    if (weight > highest) [best, highest] = [index, weight]
  }
  return best
}
