import { DashkeepError } from '../errors.ts'
import type { Settings, SubAccount } from './service.ts'
import { findSubAccount, settingsOf } from './settings.ts'

/** One replace of a move; GB per day. */
export interface MoveStep {
  readonly accountId: number
  readonly accountName: string
  readonly fromGb: number
  readonly toGb: number
}

/** A move of capacity between sub accounts, in the order of its requests. */
export interface MovePlan {
  /** Empty when every account has what it is to have. */
  readonly steps: readonly MoveStep[]
  /** What the accounts take together before; never exceeded on the way. */
  readonly startGb: number
  readonly endGb: number
}

/** The wanted capacities of a move of some GB per day from one account to another. */
export function transfer(
  accounts: readonly SubAccount[],
  { from, to, gb, mainId }: { from: number; to: number; gb: number; mainId: number },
): Map<number, number> {
  if (from === to) throw refused('both are the same account', 'name two with --from and --to')
  if (!(gb > 0)) throw refused(`${gb} GB is nothing to move`, 'give more than 0 with --gb')
  const capacity = (id: number) => capacityOf(findSubAccount(accounts, id, mainId))
  return new Map([
    [from, exactGb(capacity(from) - gb)],
    [to, exactGb(capacity(to) + gb)],
  ])
}

/**
 * Orders the replaces of a move: accounts that give are reduced first, the one with the higher
 * maxDailyGB before the others (specification, "Reallocating capacity"); then the others are
 * increased. So the accounts never take more together than at the start. Pure: sends nothing.
 *
 * Throws a `usage` error when the accounts would take more at the end, when one that gives would
 * keep less than `minGb`, and for accounts whose capacity is no number.
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
      `the accounts would take ${endGb} GB per day together instead of ${startGb}`,
      'a move gives no more than it takes; `dashkeep accounts update` raises one account alone',
    )
  }
  const higherFirst = steps.toSorted((one, other) => other.fromGb - one.fromGb)
  const reductions = higherFirst.filter(({ fromGb, toGb }) => toGb < fromGb)
  const increases = higherFirst.filter(({ fromGb, toGb }) => toGb > fromGb)
  return withTotals([...reductions, ...increases])
}

/** A plan of these steps. */
export function withTotals(steps: readonly MoveStep[]): MovePlan {
  const startGb = sumGb(steps.map(({ fromGb }) => fromGb))
  return { steps, startGb, endGb: sumGb(steps.map(({ toGb }) => toGb)) }
}

/** A step of a move that was begun, with what the list shows of its account. */
export interface ListedStep extends MoveStep {
  /** Null for a flexible account, undefined for one that is not listed. */
  readonly listedGb: number | null | undefined
}

/** What the list shows of a move that was begun and not finished. */
export interface MoveReview {
  readonly steps: readonly ListedStep[]
  /** What the accounts take together by the list, and once the move is finished. */
  readonly nowGb: number
  readonly endGb: number
  /** Why the move cannot be finished: what others have changed since. */
  readonly conflicts: readonly string[]
}

/** Compares a move that was begun with a list. Pure: sends nothing. */
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

/** What others have changed of a step's account; undefined when it has one of its two capacities. */
function conflictOf({ accountId, fromGb, toGb, listedGb }: ListedStep): string | undefined {
  if (listedGb === fromGb || listedGb === toGb) return undefined
  if (listedGb === undefined) return `sub account ${accountId} is not in the list any more`
  const now = listedGb === null ? 'no capacity of its own' : `${listedGb} GB per day`
  return `somebody else has set account ${accountId} to ${now}, it was to go from ${fromGb} to ${toGb}`
}

/** The bodies of a plan's replaces, in their order, as the list shows the accounts. */
export function bodiesOf(
  accounts: readonly SubAccount[],
  { steps }: MovePlan,
  { mainId }: { mainId: number },
): Settings[] {
  return steps.map(({ accountId, toGb }) => {
    return { ...settingsOf(findSubAccount(accounts, accountId, mainId)), maxDailyGB: toGb }
  })
}

/** Adds GB without the noise of binary fractions. */
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
    'give it a capacity of its own first, with `dashkeep accounts update`',
  )
}

function refuseTooLittle({ accountId, fromGb, toGb }: MoveStep, minGb: number): void {
  const least = Math.max(minGb, 0)
  if (toGb >= fromGb || toGb >= least) return
  throw refused(
    `account ${accountId} would keep ${toGb} of ${fromGb} GB per day, the least is ${least}`,
    'move less; --min-gb sets the least that an account keeps',
  )
}

function refused(state: string, hint: string): DashkeepError {
  return new DashkeepError(`Cannot move capacity: ${state}`, { kind: 'usage', hint })
}
