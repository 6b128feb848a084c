import type { Config, CopyConfig, Environment } from '../config/config.ts'
import { readCopyLag } from '../copy/copy-lag.ts'
import type { Logger } from '../log.ts'
import { openCopy } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { createTimeLimit } from './time-limit.ts'

/** An account in a copy of the archive. */
export interface CopiedAccount {
  readonly accountId: number
  /** Snapshots that the copy lacks. */
  readonly missing: number
  /** The newest snapshot that the copy has. */
  readonly snapshot: string | undefined
  readonly takenAt: Date | undefined
  /** Whether that is older than the archive may be, and newer ones are missing. */
  readonly stale: boolean
}

/** A configured copy as `status` shows it. */
export interface CopyStatus {
  readonly name: string
  readonly url: string
  readonly accounts: readonly CopiedAccount[]
  /** Why the copy could not be read. */
  readonly error: string | undefined
}

/** Listing a million snapshots takes about three minutes. */
const limitOfReading = {
  ms: 5 * 60_000,
  message: 'Cannot read the copy: it takes longer than 5 minutes',
  hint: 'check whether its store answers slowly',
}

/** What the states of accounts in copies are read with. */
interface CopyReading {
  readonly now: Date
  readonly maxAgeMs: number | undefined
  /** Only this account. */
  readonly accountId?: number | undefined
  readonly env: Environment
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Reads how far each configured copy is behind the archive, all at the same time. */
export async function readCopies(
  source: ObjectStore,
  config: Config,
  options: CopyReading,
): Promise<CopyStatus[]> {
  return Promise.all(config.copies.map((copy) => readCopy(copy, { source, config }, options)))
}

/**
 * Reads how far a copy is behind the archive. A copy that cannot be read within five minutes has an
 * error.
 */
export async function readCopy(
  copy: CopyConfig,
  { source, config }: { source: ObjectStore; config: Config },
  options: CopyReading,
): Promise<CopyStatus> {
  const { name, url, newerOnly } = copy
  const { now, maxAgeMs, accountId } = options
  const only = accountId === undefined ? undefined : new Set([accountId])
  const limit = createTimeLimit(options, limitOfReading)
  const { signal } = limit
  const accounts: CopiedAccount[] = []
  try {
    await using target = await openCopy(copy, config, options)
    const stores = { source, target }
    for await (const lag of readCopyLag(stores, { only, newerOnly, now, signal })) {
      const takenAt = lag.newest?.takenAt
      const age = takenAt ? now.getTime() - takenAt.getTime() : Number.POSITIVE_INFINITY
      const stale = maxAgeMs !== undefined && lag.missing > 0 && age > maxAgeMs
      const { newest, ...rest } = lag
      accounts.push({ ...rest, snapshot: newest?.snapshot, takenAt, stale })
    }
    return { name, url, accounts, error: undefined }
  } catch (error) {
    return { name, url, accounts, error: limit.explain(error).message }
  }
}
