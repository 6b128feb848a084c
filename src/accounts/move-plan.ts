import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'
import { findSubAccount, settingsOf } from './settings.ts'

/** One replace of a move. Capacities are GB per day. */
export interface MoveStep {
  readonly accountId: number
  readonly accountName: string
  readonly fromGb: number
  readonly toGb: number
}

/** A move of capacity between sub accounts, in the order of its requests. */
export interface MovePlan {
  /** Empty when every account has its wanted capacity. */
  readonly steps: readonly MoveStep[]
  /** Total capacity before the move. No step exceeds it. */
  readonly startGb: number
  readonly endGb: number
}

/** Computes the wanted capacities of a move from one account to another. */
export function transfer(
  accounts: readonly SubAccount[],
  { from, to, gb, mainId }: { from: number; to: number; gb: number; mainId: number },
): Map<number, number> {
  if (from === to)
    throw refused('both are the same account', 'use different accounts for --from and --to')
  if (!(gb > 0)) throw refused(`${gb} GB is nothing to move`, 'use --gb with a number above 0')
  const capacity = (id: number) => capacityOf(findSubAccount(accounts, id, mainId))
  return new Map([
    [from, exactGb(capacity(from) - gb)],
    [to, exactGb(capacity(to) + gb)],
  ])
}

/**
 * Plans the replaces of a move. Reductions come first, highest maxDailyGB first (specification,
 * "Reallocating capacity"). Increases follow. So the total never exceeds the total at the start. Pure:
 * sends nothing.
 *
 * Throws a `usage` error when the total would grow, when a reduced account would keep less than `minGb`,
 * and for accounts without a capacity of their own.
 */
export function planMove(
  accounts: readonly SubAccount[],
  wantedGb: ReadonlyMap<number, number>,
  { minGb, mainId }: { minGb: number; mainId: number },
): MovePlan {
  const steps = [...wantedGb].map(([accountId, toGb]): MoveStep => {
    const account = findSubAccount(accounts, accountId, mainId)
    return { accountId, accountName: account.accountName, fromGb: capacityOf(account), toGb }
  })
  for (const step of steps) refuseTooLittle(step, minGb)
  const { startGb, endGb } = withTotals(steps)
  if (endGb > startGb) {
    throw refused(
      `the accounts would have ${endGb} GB per day in total instead of ${startGb}`,
      'a move must not increase the total; `dashkeep accounts update` increases one account alone',
    )
  }
  const higherFirst = steps.toSorted((one, other) => other.fromGb - one.fromGb)
  const reductions = higherFirst.filter(({ fromGb, toGb }) => toGb < fromGb)
  const increases = higherFirst.filter(({ fromGb, toGb }) => toGb > fromGb)
  return withTotals([...reductions, ...increases])
}

/** Makes a plan of these steps. */
export function withTotals(steps: readonly MoveStep[]): MovePlan {
  const startGb = sumGb(steps.map(({ fromGb }) => fromGb))
  return { steps, startGb, endGb: sumGb(steps.map(({ toGb }) => toGb)) }
}

/** A step of an unfinished move, with the listed capacity of its account. */
export interface ListedStep extends MoveStep {
  /** Null for a flexible account; undefined when the account is not listed. */
  readonly listedGb: number | null | undefined
}

/** The state of an unfinished move, by the list. */
export interface MoveReview {
  readonly steps: readonly ListedStep[]
  /** Total capacity now, and after the move. */
  readonly nowGb: number
  readonly endGb: number
  /** Changes by others that prevent finishing the move. */
  readonly conflicts: readonly string[]
}

/** Compares an unfinished move with a list. Pure: sends nothing. */
export function reviewMove(
  accounts: readonly SubAccount[],
  steps: readonly MoveStep[],
): MoveReview {
  const listed = steps.map((step) => {
    const account = accounts.find(({ accountId }) => accountId === step.accountId)
    const accountName = account?.accountName ?? step.accountName
    return { ...step, accountName, listedGb: account?.maxDailyGB }
  })
  return {
    steps: listed,
    nowGb: sumGb(listed.map(({ listedGb }) => listedGb ?? 0)),
    endGb: sumGb(steps.map(({ toGb }) => toGb)),
    conflicts: listed.flatMap((step) => conflictOf(step) ?? []),
  }
}

/** The change by somebody else; undefined when the account has its old or its new capacity. */
function conflictOf({ accountId, fromGb, toGb, listedGb }: ListedStep): string | undefined {
  if (listedGb === fromGb || listedGb === toGb) return undefined
  if (listedGb === undefined) return `the list does not contain sub account ${accountId} any more`
  const now = listedGb === null ? 'no capacity of its own' : `${listedGb} GB per day`
  return `somebody else has set account ${accountId} to ${now}; the move changes it from ${fromGb} to ${toGb}`
}

/** The bodies of the requests of a plan, in order. Other settings come from the list. */
export function bodiesOf(
  accounts: readonly SubAccount[],
  { steps }: MovePlan,
  { mainId }: { mainId: number },
): Settings[] {
  return steps.map(({ accountId, toGb }) => {
    return { ...settingsOf(findSubAccount(accounts, accountId, mainId)), maxDailyGB: toGb }
  })
}

/** Adds GB without rounding errors of binary fractions. */
export function sumGb(gigabytes: readonly number[]): number {
  return exactGb(gigabytes.reduce((sum, gb) => sum + gb, 0))
}

function exactGb(gb: number): number {
  return Math.round(gb * 1e9) / 1e9
}

function capacityOf({ accountId, maxDailyGB }: SubAccount): number {
  if (maxDailyGB !== null) return maxDailyGB
  throw refused(
    `account ${accountId} is flexible: its maxDailyGB is null`,
    'set its capacity first, with `dashkeep accounts update`',
  )
}

function refuseTooLittle({ accountId, fromGb, toGb }: MoveStep, minGb: number): void {
  const least = Math.max(minGb, 0)
  if (toGb >= fromGb || toGb >= least) return
  throw refused(
    `account ${accountId} would keep ${toGb} of ${fromGb} GB per day, less than the minimum of ${least}`,
    'move less, or set another minimum with --min-gb',
  )
}

function refused(state: string, hint: string): DashkeepError {
  return new DashkeepError(`Cannot move capacity: ${state}`, { kind: 'usage', hint })
}
