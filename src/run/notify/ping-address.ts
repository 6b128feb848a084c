import type { Shard } from '../../config/shard.ts'

/** Stands in the address of a ping for the index of the shard. */
const placeholder = '{shard}'

/** Why a run does not ping an address. */
export interface LeftOut {
  readonly level: 'info' | 'warn'
  readonly reason: string
}

/**
 * Finds the address that a run pings. One with `{shard}` is for the runs of shards, any other one
 * for runs over all shards: of shards that shared an address, the last one would decide.
 */
export function pingAddress(configured: string, shard: Shard | undefined): string | LeftOut {
  if (isForShards(configured)) {
    if (shard) return configured.replaceAll(placeholder, String(shard.index))
    return { level: 'warn', reason: 'its address has {shard}, and this run is over all shards' }
  }
  if (shard === undefined || shard.count === 1) return configured
  const reason = 'its address has no {shard}, and shards that share an address hide failures'
  return { level: 'info', reason }
}

/** Whether each shard has such an address of its own. */
export function isForShards(address: string): boolean {
  return address.includes(placeholder)
}
