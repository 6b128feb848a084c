import { copyPins } from '../archive/pins.ts'
import type { Config, CopyConfig, Environment } from '../config/config.ts'
import { formatDuration } from '../config/duration.ts'
import { type CopiedSnapshot, copySnapshots } from '../copy/copy-snapshots.ts'
import { planCopy } from '../copy/plan-copy.ts'
import type { Logger } from '../log.ts'
import { openCopy } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { plural } from '../wording.ts'
import { createTimeLimit } from './time-limit.ts'

/** What the work after a run needs, such as copying the new snapshots. */
export interface AfterRunOptions {
  readonly env: Environment
  readonly log: Logger
  readonly now: () => Date
  /** Stops the process. */
  readonly signal?: AbortSignal | undefined
  /** Ends the time of the run. What is not done by then becomes a warning. */
  readonly deadline?: AbortSignal | undefined
}

/** Why something of an account is missing elsewhere, for each account. */
export type WarningsByAccount = ReadonlyMap<number, readonly string[]>

/**
 * Copies what the configured copies lack of these accounts, to all copies at the same time. Returns a
 * warning for each account and copy that lacks something. Throws only when the process is stopped.
 */
export async function copyAccounts(
  config: Config,
  store: ObjectStore,
  accounts: ReadonlySet<number>,
  options: AfterRunOptions,
): Promise<WarningsByAccount> {
  const found = await Promise.all(
    config.copies.map((copy) => copyTo(copy, config, { source: store, accounts, ...options })),
  )
  return new Map(
    [...accounts].map((id) => [id, found.flatMap((warnings) => warnings.get(id) ?? [])]),
  )
}

/** Copies to one store. Returns a warning for each account of which something is not copied. */
async function copyTo(
  copy: CopyConfig,
  config: Config,
  options: AfterRunOptions & { source: ObjectStore; accounts: ReadonlySet<number> },
): Promise<Map<number, string>> {
  const { source, accounts, now, log } = options
  const limit = createTimeLimit(options, {
    ms: copy.deadlineMs,
    message: `Cannot finish the copy: it takes longer than ${formatDuration(copy.deadlineMs)}`,
    hint: 'the next run continues; raise `deadline` of the copy, or look for what is slow',
  })
  const { signal } = limit
  const warnings = new Map<number, string>()
  const open = new Set(accounts)
  let copied = 0
  try {
    await using target = await openCopy(copy, config, options)
    const stores = { source, target }
    const selection = { only: accounts, newerOnly: copy.newerOnly, now: now(), signal }
    for await (const plan of planCopy(stores, selection)) {
      const results = await Array.fromAsync(copySnapshots(stores, plan, { now: now(), signal }))
      const failed = results.filter(({ defects }) => defects.length > 0)
      copied += results.length - failed.length
      if (failed.length > 0) warnings.set(plan.accountId, notCopied(copy, describe(failed)))
      open.delete(plan.accountId)
    }
    await copyPins(stores, { only: accounts, signal })
  } catch (error) {
    const { message } = limit.explain(error)
    const missing = open.size > 0 ? open : accounts
    for (const accountId of missing) warnings.set(accountId, notCopied(copy, message))
  }
  log.info({ copy: copy.name, snapshots: copied }, 'copied')
  for (const reason of new Set(warnings.values()))
    log.warn({ copy: copy.name, reason }, 'not copied')
  return warnings
}

/** The first defect, which may be the cause of others, and how many snapshots are not copied. */
function describe(failed: readonly CopiedSnapshot[]): string {
  const [{ key, problem } = { key: '', problem: '' }] = failed.flatMap(({ defects }) => defects)
  const others = failed.length > 1 ? `; ${plural(failed.length, 'snapshot')} in all` : ''
  return `${key}: ${problem}${others}`
}

function notCopied({ name }: CopyConfig, reason: string): string {
  return `not copied to ${name}: ${reason}`
}
