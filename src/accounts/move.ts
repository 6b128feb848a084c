import { DashkeepError } from '../errors.ts'
import type { MoveJournal, MoveRecord } from './journal.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import { type MoveStep, reviewMove } from './move-plan.ts'
import type { Settings, SubAccount, SubAccountService } from './service.ts'
import { findSubAccount, settingsOf } from './settings.ts'

/** The capacity of an account after a move. */
export interface MovedAccount extends MoveStep {
  /** The acknowledged capacity; undefined when it is unclear whether the last request succeeded. */
  readonly nowGb: number | undefined
  /** The listed capacity, if the list was read after the last request for this account. */
  readonly listedGb: number | null | undefined
}

/**
 * The result of a move:
 * - `moved`: every account has its new capacity; `shown` tells whether the list shows it.
 * - `undone`: a step failed, and every account has its old capacity.
 * - `unfinished`: a step failed and could not be undone, or undoing it would not be safe. The
 *   journal is kept.
 */
export type MoveOutcome = { readonly accounts: readonly MovedAccount[] } & (
  | { readonly ended: 'moved'; readonly shown: boolean }
  | { readonly ended: 'undone'; readonly error: Error }
  | { readonly ended: 'unfinished'; readonly error: Error; readonly undoError?: Error | undefined }
)

/** Options of a move. */
interface MoveOptions {
  /** Contains the record already. */
  readonly journal: MoveJournal
  readonly mainId: number
  readonly pollLimits: PollLimits
  readonly signal?: AbortSignal | undefined
}

/** An account has neither its old nor its new capacity: somebody else has changed it. */
export class ChangedMeanwhile extends DashkeepError {
  constructor(conflict: string) {
    super(`Cannot continue the move: ${conflict}`, {
      hint: 'set each account to its old or new capacity with `dashkeep accounts update` and continue with --resume, or delete the journal with --discard and start a new move',
    })
  }
}

/**
 * Carries out a move, one replace at a time. Repeats an unfinished move from its first step: a repeated
 * replace changes nothing, and a list may be outdated.
 *
 * Reads the list before each step, and keeps all other settings of the account. Increases an account only
 * when the list shows every reduction. Stops when somebody else has changed the capacity of an account.
 *
 * When a step fails, undoes all steps that may have been done, newest first, so that the total never
 * exceeds the total at the start. Undoes nothing after an interruption or a change by somebody else.
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

/** The known capacities of the accounts of a move. */
interface Capacities {
  /** Records a list. Throws when somebody else has changed the account of a step in `judged`. */
  see(accounts: readonly SubAccount[], judged: readonly MoveStep[]): void
  replace(step: MoveStep, settings: Settings, gb: number): Promise<void>
  /** Steps whose account may not have its old capacity, newest first. */
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

/** Reads the list until a step may be sent, and returns the account's settings. */
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
    { hint: 'try again in a few minutes' },
  )
}

/** Restores the old capacities. Returns the error when this fails. */
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
