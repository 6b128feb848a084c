// Tested by test/e2e/accounts.test.ts

import { DashkeepError, retell } from '../errors.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import type { Settings, SubAccount, SubAccountService } from './service.ts'
import { diffSettings, findSubAccount, type SettingChange, settingsOf } from './settings.ts'

/** The planned replace of the settings of one sub account. */
export interface PlannedChange {
  readonly accountId: number
  readonly accountName: string
  readonly before: Settings
  /** The body of the replace. */
  readonly after: Settings
  /** Empty when the account has these settings already. */
  readonly changes: readonly SettingChange[]
}

/** Compares the wanted settings of an account with the listed ones. Pure: sends nothing. */
export function planChange(account: SubAccount, after: Settings): PlannedChange {
  const { accountId, accountName } = account
  const before = settingsOf(account)
  return { accountId, accountName, before, after, changes: diffSettings(before, after) }
}

/** The result of a replace that the service accepted. */
interface AppliedChange {
  /** Settings that the list does not show as sent; empty when it shows all of them. */
  readonly unshown: readonly SettingChange[]
  /** Why the list could not be read again. */
  readonly error?: Error
}

/**
 * Replaces the settings of an account, then reads the list until it shows them.
 *
 * Reads the account again immediately before. Throws when it has changed since the plan was made,
 * unless `force` is set. Throws when nothing was replaced, or when the result is unclear.
 */
export async function applyChange(
  service: SubAccountService,
  { accountId, before, after }: PlannedChange,
  options: {
    mainId: number
    pollLimits: PollLimits
    force?: boolean | undefined
    signal?: AbortSignal | undefined
  },
): Promise<AppliedChange> {
  const { mainId, force, signal } = options
  const present = findSubAccount(await service.listSubAccounts({ signal }), accountId, mainId)
  const meanwhile = diffSettings(before, settingsOf(present))
  if (meanwhile.length > 0 && !force) throw changedMeanwhile(accountId, meanwhile)
  await service.replaceSubAccount(accountId, after, { signal }).catch((error) => {
    throw service.isRefusal(error) ? error : unclear(accountId, error)
  })
  const unshownIn = (accounts: readonly SubAccount[]) => {
    const account = accounts.find((one) => one.accountId === accountId)
    return account === undefined ? undefined : unshown(settingsOf(account), after)
  }
  try {
    const isShown = (accounts: readonly SubAccount[]) => unshownIn(accounts)?.length === 0
    const { accounts } = await listUntil(service, isShown, options)
    return { unshown: unshownIn(accounts) ?? diffSettings(before, after) }
  } catch (error) {
    return { unshown: diffSettings(before, after), error: error as Error }
  }
}

/** Settings that the list does not show as sent. Ignores settings that the list never returns. */
function unshown(listed: Settings, sent: Settings): SettingChange[] {
  return diffSettings(listed, sent).filter(({ before, after }) => {
    return before !== undefined && after !== undefined
  })
}

function changedMeanwhile(accountId: number, changes: readonly SettingChange[]): DashkeepError {
  const members = changes.map(({ member }) => member).join(', ')
  return new DashkeepError(
    `Cannot replace the settings of sub account ${accountId}: somebody else has changed ${members} since the plan was made`,
    { hint: 'nothing was sent: run it again to see the new plan, or add --force to overwrite' },
  )
}

function unclear(accountId: number, error: Error): DashkeepError {
  return retell(
    error,
    `${error.message}; it is unclear whether account ${accountId} has the new settings`,
    'run it again: it shows what is left to change',
  )
}
