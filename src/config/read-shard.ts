import type { Environment } from './config.ts'
import { parseShard, type Shard } from './shard.ts'
import type { Variables } from './variables.ts'

/**
 * Reads the part of the accounts that belongs to this process from `--shard`, `DASHKEEP_SHARD`, or
 * `DASHKEEP_SHARDS` in an Indexed Job of Kubernetes, which sets `JOB_COMPLETION_INDEX`.
 */
export function readShard(
  { given }: Variables,
  env: Environment,
  { flag, problems }: { flag: string | undefined; problems: string[] },
): Shard | undefined {
  const [shard, shards] = [given.get('SHARD'), given.get('SHARDS')]
  if (shard && shards) problems.push(`${shards.source}: ${shard.source} is set too: unset one`)
  const text = flag ?? shard?.value
  if (text !== undefined) {
    const parsed = parseShard(text)
    const source = flag === undefined ? shard?.source : '--shard'
    if (!parsed) {
      problems.push(
        `${source}: expected index/number, such as 0/8 (the first of 8) or 7/8 (the last), found "${text}"`,
      )
    }
    return parsed
  }
  if (shards === undefined) return undefined
  const index = env.JOB_COMPLETION_INDEX
  if (!index) problems.push(`${shards.source}: set, but JOB_COMPLETION_INDEX is not`)
  const parsed = index ? parseShard(`${index}/${shards.value}`) : undefined
  if (index && !parsed) {
    problems.push(`${shards.source}: ${shards.value} shards have none with the index ${index}`)
  }
  return parsed
}
