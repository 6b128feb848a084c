import { sizeOf } from '../../archive/archive.ts'
import {
  type AccountPrunePlan,
  applyPrune,
  foldersToRemove,
  type NamedRemoval,
  planPrune,
  type Removal,
} from '../../archive/prune.ts'
import type { RetentionPolicy } from '../../archive/retention.ts'
import { findEmptyFolders, findLeftWrites } from '../../archive/sweep.ts'
import type { Config } from '../../config/config.ts'
import { parseDuration } from '../../config/duration.ts'
import { DashkeepError } from '../../errors.ts'
import { findOldProofs } from '../../proofs/old.ts'
import type { ProofKey } from '../../proofs/proof.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { EmptyFolder, ObjectStore, UnfinishedWrite } from '../../store/object-store.ts'
import { formatBytes, formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { describeAbsence } from '../print/nothing-proven.ts'
import { formatTable } from '../print/table.ts'
import { warnOfFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { resolveAccountId } from '../select/choose-account.ts'
import { confirm, type Terminal } from '../terminal.ts'

interface PruneOptions extends CommonOptions {
  readonly account?: string
  readonly keepLast?: number
  readonly keepHourly?: number
  readonly keepDaily?: number
  readonly keepWeekly?: number
  readonly keepMonthly?: number
  readonly keepYearly?: number
  readonly keepWithin?: string
  readonly remove?: readonly string[]
  readonly yes?: boolean
}

/** Everything that prune would remove. */
interface Plan {
  readonly plans: readonly AccountPrunePlan[]
  readonly leftWrites: readonly UnfinishedWrite[]
  readonly emptyFolders: readonly EmptyFolder[]
  /** Records of verifications and drills that are no longer needed. */
  readonly oldProofs: readonly ProofKey[]
  /** The names given with `--remove`; undefined when rules decide. */
  readonly named: ReadonlySet<string> | undefined
}

/** The plan of prune and its result. */
interface Outcome extends Plan, Done {
  /** Whether the removal was confirmed. */
  readonly agreed: boolean
}

/** `dashkeep prune`: shows the plan, asks and removes. Removes nothing without a confirmation. */
export async function prune(terminal: Terminal, options: PruneOptions): Promise<number> {
  const { config, log } = await createContext(terminal, options, ['store'])
  const wanted = wantedBy(options, config)
  await using store = await openWatchedArchive(terminal, { config, log })
  const now = terminal.now()
  const { signal } = terminal
  const accountId = await resolveAccountId(store, config, options.account, { now, signal })
  const plan = await makePlan(terminal, options, { store, accountId, wanted, now })
  for (const { accountId, decisions } of plan.plans) {
    const folders = decisions.map(({ candidate }) => candidate.folder)
    warnOfFuture(log, accountId, folders, now)
  }
  const number = countItems(plan)
  const absence =
    plan.plans.length === 0 && accountId !== undefined
      ? describeAbsence(store.url, 'snapshot', accountId)
      : undefined
  if (absence && terminal.json) log.warn(absence)
  if (!terminal.json) printPlan(terminal, plan)
  const question = `Remove ${plural(number, 'item')} from ${store.url}?`
  const agreed = number > 0 && (await confirm(terminal, question, options)) === 'yes'
  const done = agreed ? await carryOut(terminal, plan, { store, now }) : nothingDone
  const outcome = { ...plan, agreed, ...done }
  if (terminal.json) terminal.printJson(toJson(outcome))
  else printOutcome(terminal, outcome, { number, absence })
  return exitCodeFor(outcome)
}

async function makePlan(
  { signal, progress }: Terminal,
  { remove }: PruneOptions,
  from: {
    store: ObjectStore
    accountId: number | undefined
    wanted: RetentionPolicy | NamedRemoval
    now: Date
  },
): Promise<Plan> {
  const { store, accountId, wanted, now } = from
  progress.begin('planning', { unit: 'manifest', counting: 'read' })
  const plans = await Array.fromAsync(planPrune(store, wanted, { now, accountId, signal }))
  const named = remove && new Set(remove)
  for (const name of named ?? []) refuseUnknown(name, plans, store.url)
  if (named) return { plans, leftWrites: [], emptyFolders: [], oldProofs: [], named }
  progress.begin('searching for files of interrupted runs')
  const leftWrites = await findLeftWrites(store, { now, signal })
  const emptyFolders = await findEmptyFolders(store, { now, signal })
  const oldProofs = await findOldProofs(store, { now, accountId, signal })
  return { plans, leftWrites, emptyFolders, oldProofs, named }
}

async function carryOut(
  { signal, progress }: Terminal,
  { plans, leftWrites, emptyFolders, oldProofs }: Plan,
  { store, now }: { store: ObjectStore; now: Date },
): Promise<Done> {
  const removals: Removal[] = []
  const total = sum(plans.flatMap(foldersToRemove).map(({ files }) => files.size))
  progress.begin('removing', { unit: 'file', total, counting: 'remove' })
  for (const plan of plans) {
    for await (const removal of applyPrune(store, plan, { now, signal })) removals.push(removal)
  }
  let swept = 0
  try {
    for (const left of [...leftWrites, ...emptyFolders]) {
      await left.remove({ signal })
      swept += 1
    }
    for (const { key } of oldProofs) {
      await store.remove(key, { signal })
      swept += 1
    }
  } catch (error) {
    // The removed snapshots must still be named.
    signal.throwIfAborted()
    return { removals, swept, sweepError: error as Error }
  }
  return { removals, swept, sweepError: undefined }
}

/** What was removed. */
interface Done {
  readonly removals: readonly Removal[]
  /** Number of removed items beside the folders of snapshots. */
  readonly swept: number
  /** Why one of these items could not be removed. No further one was tried. */
  readonly sweepError: Error | undefined
}

const nothingDone: Done = { removals: [], swept: 0, sweepError: undefined }

/** The names to remove, or the rules. */
function wantedBy(options: PruneOptions, config: Config): RetentionPolicy | NamedRemoval {
  const given = policyOf(options)
  if (options.remove === undefined) {
    const policy = given ?? config.retention
    if (policy === undefined) throw noPolicy()
    return policy
  }
  if (given === undefined) return { named: new Set(options.remove) }
  throw new DashkeepError('Cannot prune: --remove and --keep options exclude each other', {
    kind: 'usage',
    hint: 'run prune once with each of them',
  })
}

function refuseUnknown(name: string, plans: readonly AccountPrunePlan[], url: string): void {
  const folders = plans.flatMap(({ decisions }) => decisions.map(({ candidate }) => candidate))
  const refused = plans.some(({ refusal }) => refusal !== undefined)
  if (refused || folders.some(({ snapshot }) => snapshot === name)) return
  throw new DashkeepError(`Cannot remove the snapshot ${name}: ${url} does not hold it`, {
    kind: 'usage',
    hint: 'use the full name; `dashkeep list` lists the snapshots',
  })
}

/** The rules of the command line, which replace all configured rules; undefined without any. */
function policyOf(options: PruneOptions): RetentionPolicy | undefined {
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
    if (number === 0) {
      throw new DashkeepError(`Cannot use --keep-${rule} 0: the minimum is 1`, {
        kind: 'usage',
        hint: `to keep no snapshot by this rule, leave out --keep-${rule}`,
      })
    }
  }
  const given = [...Object.values(numbers), withinMs].some((value) => value !== undefined)
  return given ? { ...numbers, withinMs } : undefined
}

function noPolicy(): DashkeepError {
  return new DashkeepError('Cannot prune: no rule says what to keep', {
    kind: 'usage',
    hint: 'configure retention, or add for example --keep-daily 7 --keep-weekly 4 --keep-monthly 12',
  })
}

function countItems({ plans, leftWrites, emptyFolders, oldProofs }: Plan): number {
  return [plans.flatMap(foldersToRemove), leftWrites, emptyFolders, oldProofs].flat().length
}

/** The bytes that the plan frees. Only snapshots and their leftovers count. */
function bytesToFree({ plans }: Plan): number {
  return sum(plans.flatMap(foldersToRemove).map(sizeOf))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function exitCodeFor({ plans, named, removals, sweepError }: Outcome): number {
  const stays = plans.some(({ decisions }) =>
    decisions.some(({ candidate, keep }) => keep && named?.has(candidate.snapshot)),
  )
  const failed = sweepError !== undefined || removals.some(({ error }) => error !== undefined)
  const refused = plans.some(({ refusal }) => refusal !== undefined)
  return failed || refused || stays ? exitCodes.partly : exitCodes.done
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson(outcome: Outcome): object {
  const { plans, leftWrites, emptyFolders, oldProofs, agreed, removals } = outcome
  const removed = removals.filter(isRemoved)
  return {
    done: agreed,
    accounts: plans.map(({ accountId, refusal, decisions, leftovers }) => ({
      accountId,
      refusal,
      snapshots: decisions.map(({ candidate, keep, reasons }) => ({
        snapshot: candidate.snapshot,
        keep,
        reasons,
        bytes: sizeOf(candidate.folder),
      })),
      leftovers: leftovers.map(({ snapshot }) => snapshot),
    })),
    unfinishedWrites: leftWrites.length,
    emptyFolders: emptyFolders.length,
    oldProofs: oldProofs.length,
    bytes: bytesToFree(outcome),
    removed: removed.length,
    removedBytes: sum(removed.map(({ bytes }) => bytes)),
    sweepError: outcome.sweepError?.message,
    locked: removals
      .filter(({ keptUntil }) => keptUntil !== undefined)
      .map(({ accountId, snapshot, keptUntil }) => ({ accountId, snapshot, keptUntil })),
    failed: removals
      .filter(({ error }) => error !== undefined)
      .map(({ accountId, snapshot, error }) => ({ accountId, snapshot, error: error?.message })),
  }
}

function printPlan(terminal: Terminal, plan: Plan): void {
  const { plans, leftWrites, emptyFolders, oldProofs, named } = plan
  const { colors } = terminal
  const shown = ({ candidate }: { candidate: { snapshot: string } }) =>
    named?.has(candidate.snapshot) ?? true
  const rows = plans.flatMap(({ accountId, refusal, decisions, leftovers }) => [
    ...decisions.filter(shown).map(({ candidate, keep, reasons }) => {
      const stays = keep || refusal !== undefined
      return [
        stays ? colors.green('keep') : colors.red('remove'),
        String(accountId),
        candidate.snapshot,
        formatBytes(sizeOf(candidate.folder)),
        `${keep || refusal === undefined ? '' : 'would be removed: '}${reasons.join(', ')}`,
      ]
    }),
    ...leftovers.map((folder) => {
      const reason = 'left by an interrupted run more than a day ago'
      const size = formatBytes(sizeOf(folder))
      return [colors.red('sweep'), String(accountId), folder.snapshot, size, reason]
    }),
  ])
  if (rows.length > 0) {
    terminal.print(
      formatTable(terminal, ['', 'ACCOUNT', 'SNAPSHOT', 'SIZE', 'REASONS'], rows, {
        right: [1, 3],
        wrapped: 'REASONS',
      }),
    )
  }
  for (const { accountId, refusal } of plans) {
    if (refusal === undefined) continue
    terminal.print(
      `${colors.yellow('refused')} ${accountId}: removes no snapshot, because ${refusal}`,
    )
  }
  if (leftWrites.length > 0) {
    terminal.print(`${plural(leftWrites.length, 'unfinished write')} from more than a day ago`)
  }
  if (emptyFolders.length > 0) {
    terminal.print(`${plural(emptyFolders.length, 'empty folder')} from more than a day ago`)
  }
  if (oldProofs.length > 0) {
    terminal.print(`${plural(oldProofs.length, 'proof record')} 400 days older than the newest`)
  }
  const number = countItems(plan)
  if (number === 0) return
  terminal.print(
    `${plural(number, 'item')} to remove, which frees ${formatBytes(bytesToFree(plan))}`,
  )
}

function printOutcome(
  terminal: Terminal,
  { agreed, removals, swept, sweepError }: Outcome,
  { number, absence }: { number: number; absence: string | undefined },
): void {
  const { colors } = terminal
  if (number === 0) terminal.print(absence ? `${absence}: nothing to remove` : 'Nothing to remove')
  else if (!agreed) terminal.print('Nothing was removed; add --yes to remove')
  else {
    const done = removals.filter(isRemoved)
    const freed = formatBytes(sum(done.map(({ bytes }) => bytes)))
    const others = swept > 0 ? ` and ${plural(swept, 'other item')}` : ''
    terminal.print(
      `${colors.green('removed')} ${plural(done.length, 'folder')}${others}, ${freed} freed`,
    )
  }
  if (sweepError) terminal.print(`${colors.yellow('kept')} other items: ${sweepError.message}`)
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
