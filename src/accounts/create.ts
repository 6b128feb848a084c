import { DashkeepError, hintOf, InterruptedError, retell } from '../errors.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import type { CreatedSubAccount, NewSubAccount, SubAccount, SubAccountService } from './service.ts'

/** A new account, and whether the list shows it already. */
export interface Created extends CreatedSubAccount {
  readonly shown: boolean
}

/** Limits of the search after an interruption: lists in all, and the time for them. */
const interrupted = { lists: 4, timeoutMs: 10_000 }

interface CreateOptions {
  /** The list of before. */
  readonly before: readonly SubAccount[]
  readonly pollLimits: PollLimits
  readonly signal?: AbortSignal | undefined
  /** Called when it is unclear whether the account was created, before the accounts are listed. */
  readonly onUnclear?: ((error: Error) => void) | undefined
}

/**
 * Creates a sub account and lists the accounts until it shows. If it is unclear whether it was
 * created, also after an interruption, the error says what the list shows.
 */
export async function createAccount(
  service: SubAccountService,
  account: NewSubAccount,
  options: CreateOptions,
): Promise<Created> {
  const { signal } = options
  signal?.throwIfAborted()
  const created = await service
    .createSubAccount(account, { signal })
    .catch(async (error: Error) => {
      throw changedNothing(service, error)
        ? error
        : await explainUnclear(service, account, error, options)
    })
  const isShown = (accounts: readonly SubAccount[]) => accounts.some(isCreated)
  const isCreated = ({ accountId }: SubAccount) => accountId === created.accountId
  const { shown } = await listUntil(service, isShown, options).catch(() => ({ shown: false }))
  return { ...created, shown }
}

/** A create whose failure is transient was never sent. */
function changedNothing(service: SubAccountService, error: Error): boolean {
  return service.isRefusal(error) || (error instanceof DashkeepError && error.transient)
}

/** Looks for an account that has appeared since, of the name that was asked for. */
async function explainUnclear(
  service: SubAccountService,
  { accountName }: NewSubAccount,
  error: Error,
  options: CreateOptions,
): Promise<DashkeepError> {
  options.onUnclear?.(error)
  const state =
    error instanceof InterruptedError
      ? `Cannot create the sub account ${accountName}: interrupted by ${error.signal} while the request was under way`
      : error.message
  const known = new Set(options.before.map(({ accountId }) => accountId))
  const isCreated = (one: SubAccount) =>
    one.accountName === accountName && !known.has(one.accountId)
  try {
    const { accounts } = await listUntil(service, (all) => all.some(isCreated), searching(options))
    return tellFound(error, state, accounts.find(isCreated))
  } catch (failure) {
    const { name, message } = failure as Error
    const reason = name === 'TimeoutError' ? 'the list did not come within 10 s' : message
    const unknown = `${state}; and whether it was created is not known: ${reason}`
    return retell(error, unknown, hintOf(error) ?? lookFirst)
  }
}

/** After an interruption the signal has aborted already, so the search has short limits instead. */
function searching({ pollLimits, signal }: CreateOptions): Parameters<typeof listUntil>[2] {
  if (!signal?.aborted) return { pollLimits, signal }
  const lists = Math.min(pollLimits.lists, interrupted.lists)
  return {
    pollLimits: { ...pollLimits, lists },
    signal: AbortSignal.timeout(interrupted.timeoutMs),
  }
}

function tellFound(error: Error, state: string, found: SubAccount | undefined): DashkeepError {
  if (found === undefined) {
    return retell(error, `${state}; the list does not show a new account of this name`, lookFirst)
  }
  return retell(
    error,
    `${state}; but account ${found.accountId} of this name has appeared since`,
    'do not create it again; its token for shipping logs is on the account management page of the web application',
  )
}

const lookFirst =
  'the service may show it later: run `dashkeep accounts list` before you create it again'
