// Tested by test/e2e/accounts.test.ts

import { DashkeepError, hintOf, InterruptedError, retell } from '../errors.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import type { CreatedSubAccount, NewSubAccount, SubAccount, SubAccountService } from './service.ts'

/** A new account, and whether the list shows it. */
export interface Created extends CreatedSubAccount {
  readonly shown: boolean
}

/** Limits of the search after an interruption: number of lists, and total time. */
const interrupted = { lists: 4, timeoutMs: 10_000 }

interface CreateOptions {
  /** The list before the request. */
  readonly before: readonly SubAccount[]
  readonly pollLimits: PollLimits
  readonly signal?: AbortSignal | undefined
  /** Called when it is unclear whether the account was created, before the accounts are listed. */
  readonly onUnclear?: ((error: Error) => void) | undefined
}

/**
 * Creates a sub account and reads the list until it shows the account. When it is unclear whether the
 * account was created, for example after an interruption, the error says what the list shows.
 */
export async function createAccount(
  service: SubAccountService,
  account: NewSubAccount,
  options: CreateOptions,
): Promise<Created> {
  options.signal?.throwIfAborted()
  const created = await sendCreate(service, account, options)
  const isShown = (accounts: readonly SubAccount[]) =>
    accounts.some(({ accountId }) => accountId === created.accountId)
  const { shown } = await listUntil(service, isShown, options).catch(() => ({ shown: false }))
  return { ...created, shown }
}

async function sendCreate(
  service: SubAccountService,
  account: NewSubAccount,
  options: CreateOptions,
): Promise<CreatedSubAccount> {
  try {
    return await service.createSubAccount(account, { signal: options.signal })
  } catch (error) {
    if (changedNothing(service, error as Error)) throw error
    throw await explainUnclear(service, account, error as Error, options)
  }
}

/** Whether nothing was created. A create with a transient failure was never sent. */
function changedNothing(service: SubAccountService, error: Error): boolean {
  return service.isRefusal(error) || (error instanceof DashkeepError && error.transient)
}

/** Searches the list for a new account with the wanted name. */
async function explainUnclear(
  service: SubAccountService,
  { accountName }: NewSubAccount,
  error: Error,
  options: CreateOptions,
): Promise<DashkeepError> {
  options.onUnclear?.(error)
  const state =
    error instanceof InterruptedError
      ? `Cannot create the sub account ${accountName}: interrupted by ${error.signal} during the request`
      : error.message
  const known = new Set(options.before.map(({ accountId }) => accountId))
  const isCreated = (one: SubAccount) =>
    one.accountName === accountName && !known.has(one.accountId)
  try {
    const { accounts } = await listUntil(
      service,
      (all) => all.some(isCreated),
      searchLimits(options),
    )
    return tellFound(error, state, accounts.find(isCreated))
  } catch (failure) {
    const { name, message } = failure as Error
    const reason = name === 'TimeoutError' ? 'the list did not arrive within 10 s' : message
    const unknown = `${state}; it is unknown whether the account was created: ${reason}`
    return retell(error, unknown, hintOf(error) ?? lookFirst)
  }
}

/** The limits of the search. After an interruption they are short, because the signal is aborted. */
function searchLimits({ pollLimits, signal }: CreateOptions): Parameters<typeof listUntil>[2] {
  if (!signal?.aborted) return { pollLimits, signal }
  const lists = Math.min(pollLimits.lists, interrupted.lists)
  return {
    pollLimits: { ...pollLimits, lists },
    signal: AbortSignal.timeout(interrupted.timeoutMs),
  }
}

function tellFound(error: Error, state: string, found: SubAccount | undefined): DashkeepError {
  if (found === undefined) {
    return retell(error, `${state}; the list shows no new account with this name`, lookFirst)
  }
  return retell(
    error,
    `${state}; but the list shows the new account ${found.accountId} with this name`,
    'do not create it again; its token for shipping logs is on the account management page of the web application',
  )
}

const lookFirst =
  'the service may show it later: run `dashkeep accounts list` before you create it again'
