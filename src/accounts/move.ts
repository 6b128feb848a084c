import { DashkeepError } from '../errors.ts'
import type { MoveJournal, MoveRecord } from './journal.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import { type MoveStep, reviewMove } from './move-plan.ts'
import type { Settings, SubAccount, SubAccountService } from './service.ts'
import { findSubAccount, settingsOf } from './settings.ts'

/** What one account takes once a move has ended, as far as the service has acknowledged it. */
export interface MovedAccount extends MoveStep {
  /** Undefined when it is unclear whether the service did what it was asked. */
  readonly nowGb: number | undefined
  /** What the last list shows, when it was read after the last request for this account. */
  readonly listedGb: number | null | undefined
}

/**
 * How a move ended:
 * - `moved`: every account has what it is to have; `shown` tells whether the list shows it.
 * - `undone`: a step failed, and every account has what it had.
 * - `unfinished`: a step failed and could not be undone, or undoing it would not be safe. The
 *   journal is kept.
 */
export type MoveOutcome = { readonly accounts: readonly MovedAccount[] } & (
  | { readonly ended: 'moved'; readonly shown: boolean }
  | { readonly ended: 'undone'; readonly error: Error }
  | { readonly ended: 'unfinished'; readonly error: Error; readonly undoError?: Error | undefined }
)

/** What a move needs besides its record. */
export interface MoveOptions {
  /** Holds the record already. */
  readonly journal: MoveJournal
  readonly mainId: number
  readonly pollLimits: PollLimits
  readonly signal?: AbortSignal | undefined
}

/** An account has neither what it had nor what it is to have. */
export class ChangedMeanwhile extends DashkeepError {
  constructor(conflict: string) {
    super(`Cannot go on with the move: ${conflict}`, {
      hint: 'either give each account one of its two capacities again with `dashkeep accounts update` and --resume, or give the move up with --discard and begin a new one',
    })
  }
}

/**
 * Carries out a move, one replace at a time. A record that was begun before is carried out again
 * from its first step: a replace that comes twice changes nothing, and a list may be old.
 *
 * The accounts are listed before each step. The step keeps all other members as they are then;
 * nothing is increased before every reduction shows; and the move stops when somebody else has
 * changed the capacity of one of its accounts. When a step fails, all that may have been done is
 * undone, the newest first, so that the sum does not exceed the start on the way back either.
 * Nothing is undone when interrupted, nor over what somebody else has changed.
 */
export async function applyMove(
  service: SubAccountService,
  record: MoveRecord,
  options: MoveOptions,
): Promise<MoveOutcome> {
  const { journal, signal } = options
  const { steps } = record.plan
  const capacities = createCapacities(service, record, signal)
  try {
    for (const [index, step] of steps.entries()) {
      signal?.throwIfAborted()
      const settings = await readBefore(service, step, { steps, capacities, options })
      await journal.write({ ...record, begun: Math.max(record.begun, index + 1) })
      await capacities.replace(step, settings, step.toGb)
    }
  } catch (failure) {
    const error = failure as Error
    const mayUndo = !signal?.aborted && !(error instanceof ChangedMeanwhile)
    const undoError = mayUndo ? await undo(service, capacities, options) : undefined
    const accounts = capacities.now()
    if (capacities.touched().length > 0) return { ended: 'unfinished', error, undoError, accounts }
    await journal.end()
    return { ended: 'undone', error, accounts }
  }
  await journal.end()
  const isShown = (accounts: readonly SubAccount[]) =>
    steps.every((step) => shows(accounts, step, options))
  const { shown } = await listUntil(service, isShown, options).catch(() => ({ shown: false }))
  return { ended: 'moved', shown, accounts: capacities.now() }
}

/** What the accounts of a move take, as far as it is known. */
interface Capacities {
  /** Takes note of what a list shows. Throws when others have changed the account of such a step. */
  see(accounts: readonly SubAccount[], judged: readonly MoveStep[]): void
  replace(step: MoveStep, settings: Settings, gb: number): Promise<void>
  /** Steps whose account may not have what it had, the newest first. */
  touched(): MoveStep[]
  now(): MovedAccount[]
}

function createCapacities(
  service: SubAccountService,
  { plan: { steps }, begun }: MoveRecord,
  signal: AbortSignal | undefined,
): Capacities {
  const nowGb = new Map<number, number | undefined>(
    steps.map(({ accountId, fromGb }, index) => [accountId, index < begun ? undefined : fromGb]),
  )
  const listedGb = new Map<number, number | null>()
  return {
    see(accounts, judged) {
      for (const step of reviewMove(accounts, steps).steps) {
        if (step.listedGb !== undefined) listedGb.set(step.accountId, step.listedGb)
      }
      const [conflict] = reviewMove(accounts, judged).conflicts
      if (conflict !== undefined) throw new ChangedMeanwhile(conflict)
    },
    async replace({ accountId }, settings, gb) {
      listedGb.delete(accountId)
      try {
        await service.replaceSubAccount(accountId, { ...settings, maxDailyGB: gb }, { signal })
        nowGb.set(accountId, gb)
      } catch (error) {
        if (!service.isRefusal(error)) nowGb.set(accountId, undefined)
        throw error
      }
    },
    touched: () =>
      steps.filter(({ accountId, fromGb }) => nowGb.get(accountId) !== fromGb).toReversed(),
    now: () =>
      steps.map((step) => {
        const { accountId } = step
        return { ...step, nowGb: nowGb.get(accountId), listedGb: listedGb.get(accountId) }
      }),
  }
}

/** Lists until a step may be done, and returns the settings that its account has. */
async function readBefore(
  service: SubAccountService,
  step: MoveStep,
  move: { steps: readonly MoveStep[]; capacities: Capacities; options: MoveOptions },
): Promise<Settings> {
  const { steps, capacities, options } = move
  const awaited = isIncrease(step) ? steps.filter((other) => !isIncrease(other)) : []
  const isReady = (accounts: readonly SubAccount[]) => {
    capacities.see(accounts, steps)
    return awaited.every((reduction) => shows(accounts, reduction, options))
  }
  const { accounts, shown } = await listUntil(service, isReady, options)
  if (shown) return settingsOf(findSubAccount(accounts, step.accountId, options.mainId))
  const late = awaited.filter((reduction) => !shows(accounts, reduction, options))
  const ids = late.map(({ accountId }) => accountId).join(', ')
  throw new DashkeepError(
    `Cannot increase account ${step.accountId}: the list does not show yet that ${ids} was reduced`,
    { hint: 'try again in a while' },
  )
}

/** Takes the accounts back to what they had; returns what kept it from doing so. */
async function undo(
  service: SubAccountService,
  capacities: Capacities,
  { mainId, signal }: MoveOptions,
): Promise<Error | undefined> {
  try {
    for (const step of capacities.touched()) {
      const accounts = await service.listSubAccounts({ signal })
      capacities.see(accounts, [step])
      const settings = settingsOf(findSubAccount(accounts, step.accountId, mainId))
      await capacities.replace(step, settings, step.fromGb)
    }
    return undefined
  } catch (error) {
    return error as Error
  }
}

function isIncrease({ fromGb, toGb }: MoveStep): boolean {
  return toGb > fromGb
}

function shows(
  accounts: readonly SubAccount[],
  step: MoveStep,
  { mainId }: { mainId: number },
): boolean {
  return findSubAccount(accounts, step.accountId, mainId).maxDailyGB === step.toGb
}
