import { openArchive } from '../app.ts'
import type { Retention } from '../config.ts'
import { parseDuration } from '../duration.ts'
import { DashkeepError } from '../errors.ts'
import { type AccountPrunePlan, applyPrune, planPrune, type Removal } from '../snapshot/prune.ts'
import { findLeftWrites } from '../snapshot/sweep.ts'
import type { UnfinishedWrite } from '../store/object-store.ts'
import { createContext, parseAccountId } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommonOptions } from './program.ts'
import { formatTable } from './table.ts'
import { confirm, formatTime, plural, type Terminal } from './terminal.ts'
import { warnOfFuture } from './warn-of-future.ts'

interface PruneOptions extends CommonOptions {
  readonly account?: string
  readonly keepLast?: number
  readonly keepHourly?: number
  readonly keepDaily?: number
  readonly keepWeekly?: number
  readonly keepMonthly?: number
  readonly keepYearly?: number
  readonly keepWithin?: string
  readonly yes?: boolean
}

/** What a run of prune found and did. */
interface Outcome {
  readonly plans: readonly AccountPrunePlan[]
  readonly leftWrites: readonly UnfinishedWrite[]
  /** Whether it was agreed to; nothing was removed otherwise. */
  readonly agreed: boolean
  readonly removals: readonly Removal[]
}

/** `dashkeep prune`: shows the plan, asks, removes. Without `--yes` a pipe changes nothing. */
export async function prune(terminal: Terminal, options: PruneOptions): Promise<number> {
  const accountId = parseAccountId(options.account)
  const { config, log } = await createContext(terminal, options, ['store'])
  const policy = policyOf(options) ?? config.retention
  if (policy === undefined) throw noPolicy()
  const store = await openArchive(config)
  const { signal } = terminal
  const now = terminal.now()
  try {
    const plans = await Array.fromAsync(planPrune(store, policy, { now, accountId, signal }))
    const leftWrites = await findLeftWrites(store, { now, signal })
    for (const { accountId: id, decisions } of plans) {
      const candidates = decisions.map(({ candidate }) => candidate.folder)
      warnOfFuture(log, id, candidates, now)
    }
    const number = plans.flatMap(toRemove).length + leftWrites.length
    if (!terminal.json) printPlan(terminal, plans, leftWrites)
    const question = `Remove ${plural(number, 'item')} from ${store.url}?`
    const agreed = number > 0 && (await confirm(terminal, question, options))
    const removals: Removal[] = []
    if (agreed) {
      for (const plan of plans) {
        for await (const removal of applyPrune(store, plan, { now, signal })) {
          removals.push(removal)
        }
      }
      for (const write of leftWrites) await write.remove({ signal })
    }
    const outcome = { plans, leftWrites, agreed, removals }
    if (terminal.json) terminal.printJson(toJson(outcome))
    else printOutcome(terminal, outcome, number)
    return exitCodeFor(outcome)
  } finally {
    await store.close()
  }
}

/** Rules on the command line take the place of the configured ones, all together. */
function policyOf(options: PruneOptions): Retention | undefined {
  const { keepLast, keepHourly, keepDaily, keepWeekly, keepMonthly, keepYearly } = options
  const withinMs = options.keepWithin === undefined ? undefined : parseDuration(options.keepWithin)
  const numbers = {
    last: keepLast,
    hourly: keepHourly,
    daily: keepDaily,
    weekly: keepWeekly,
    monthly: keepMonthly,
    yearly: keepYearly,
  }
  for (const [rule, number] of Object.entries(numbers)) {
    if (number !== undefined && !(Number.isSafeInteger(number) && number > 0)) {
      throw new DashkeepError(`Cannot keep --keep-${rule}: it is not a number from 1 on`, {
        kind: 'usage',
      })
    }
  }
  const given = [...Object.values(numbers), withinMs].some((value) => value !== undefined)
  return given ? { ...numbers, withinMs } : undefined
}

function noPolicy(): DashkeepError {
  return new DashkeepError('Cannot prune: no rule says what to keep', {
    kind: 'usage',
    hint: 'configure retention, or say for example --keep-daily 7 --keep-weekly 4 --keep-monthly 12',
  })
}

function toRemove({ refusal, decisions, leftovers }: AccountPrunePlan): string[] {
  const removed = refusal === undefined ? decisions.filter(({ keep }) => !keep) : []
  const names = removed.map(({ candidate }) => candidate.snapshot)
  return [...names, ...leftovers.map(({ snapshot }) => snapshot)]
}

function exitCodeFor({ plans, removals }: Outcome): number {
  const failed = removals.some(({ error }) => error !== undefined)
  const refused = plans.some(({ refusal }) => refusal !== undefined)
  return failed || refused ? exitCodes.partly : exitCodes.done
}

/** Stable members for programs; documented in the README. */
function toJson({ plans, leftWrites, agreed, removals }: Outcome): object {
  return {
    done: agreed,
    accounts: plans.map(({ accountId, refusal, decisions, leftovers }) => ({
      accountId,
      refusal,
      snapshots: decisions.map(({ candidate, keep, reasons }) => ({
        snapshot: candidate.snapshot,
        keep,
        reasons,
      })),
      leftovers: leftovers.map(({ snapshot }) => snapshot),
    })),
    unfinishedWrites: leftWrites.length,
    removed: removals.filter(isRemoved).length,
    locked: removals
      .filter(({ keptUntil }) => keptUntil !== undefined)
      .map(({ accountId, snapshot, keptUntil }) => ({ accountId, snapshot, keptUntil })),
    failed: removals
      .filter(({ error }) => error !== undefined)
      .map(({ accountId, snapshot, error }) => ({ accountId, snapshot, error: error?.message })),
  }
}

function printPlan(
  terminal: Terminal,
  plans: readonly AccountPrunePlan[],
  leftWrites: readonly UnfinishedWrite[],
): void {
  const { colors } = terminal
  const rows = plans.flatMap(({ accountId, refusal, decisions, leftovers }) => [
    ...decisions.map(({ candidate, keep, reasons }) => {
      const stays = keep || refusal !== undefined
      return [
        stays ? colors.green('keep') : colors.red('remove'),
        String(accountId),
        candidate.snapshot,
        keep || refusal === undefined ? reasons.join(', ') : 'would be removed',
      ]
    }),
    ...leftovers.map(({ snapshot }) => {
      return [colors.red('sweep'), String(accountId), snapshot, 'no manifest, older than a day']
    }),
  ])
  if (rows.length > 0) {
    terminal.print(
      formatTable(['', 'ACCOUNT', 'SNAPSHOT', 'REASONS'], rows, { colors, right: [1] }),
    )
  }
  for (const { accountId, refusal } of plans) {
    if (refusal === undefined) continue
    terminal.print(
      `${colors.yellow('refused')} ${accountId}: no snapshot is removed, since ${refusal}`,
    )
  }
  if (leftWrites.length > 0) {
    terminal.print(`${plural(leftWrites.length, 'unfinished write')} from more than a day ago`)
  }
}

function printOutcome(terminal: Terminal, { agreed, removals }: Outcome, number: number): void {
  const { colors } = terminal
  if (number === 0) terminal.print('Nothing to remove')
  else if (!agreed) terminal.print('Nothing was removed; --yes does it')
  else {
    const done = removals.filter(isRemoved).length
    terminal.print(`${colors.green('removed')} ${plural(done, 'folder')}`)
  }
  for (const { accountId, snapshot, error, keptUntil } of removals) {
    const name = `${accountId}/${snapshot}`
    if (error) terminal.print(`${colors.yellow('kept')} ${name}: ${error.message}`)
    if (keptUntil)
      terminal.print(`${colors.green('kept')} ${name}: locked until ${formatTime(keptUntil)}`)
  }
}

function isRemoved({ error, keptUntil }: Removal): boolean {
  return error === undefined && keptUntil === undefined
}
