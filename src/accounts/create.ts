import { DashkeepError } from '../errors.ts'
import { listUntil, type Patience } from './list-until.ts'
import type { CreatedSubAccount, NewSubAccount, SubAccount, SubAccountService } from './service.ts'

/** A new account, and whether the list shows it already. */
export interface Created extends CreatedSubAccount {
  readonly shown: boolean
}

/**
 * Creates a sub account and lists until it shows. When nobody knows whether it was created, the
 * list is asked, and the error names the account that has appeared. `before` is the list of before.
 */
export async function createAccount(
  service: SubAccountService,
  account: NewSubAccount,
  options: {
    before: readonly SubAccount[]
    patience: Patience
    signal?: AbortSignal | undefined
  },
): Promise<Created> {
  const created = await service
    .createSubAccount(account, { signal: options.signal })
    .catch(async (error: unknown) => {
      throw service.isRefusal(error)
        ? error
        : await explainUnclear(service, account, error, options)
    })
  const isShown = (accounts: readonly SubAccount[]) => accounts.some(isIt)
  const isIt = ({ accountId }: SubAccount) => accountId === created.accountId
  const { shown } = await listUntil(service, isShown, options).catch(() => ({ shown: false }))
  return { ...created, shown }
}

/** Looks for an account that has appeared since, of the name that was asked for. */
async function explainUnclear(
  service: SubAccountService,
  { accountName }: NewSubAccount,
  error: unknown,
  options: Parameters<typeof createAccount>[2],
): Promise<unknown> {
  const known = new Set(options.before.map(({ accountId }) => accountId))
  const isIt = (one: SubAccount) => one.accountName === accountName && !known.has(one.accountId)
  const listed = listUntil(service, (accounts) => accounts.some(isIt), options)
  const { accounts } = await listed.catch(() => ({ accounts: [] }))
  const found = accounts.find(isIt)
  if (found === undefined || !(error instanceof Error)) return error
  return new DashkeepError(
    `${error.message}; but account ${found.accountId} of this name has appeared since`,
    {
      hint: 'do not create it again; its token for shipping logs is on the account management page of the web application',
      cause: error,
    },
  )
}
