import { DashkeepError, retell } from '../errors.ts'
import { listUntil, type PollLimits } from './list-until.ts'
import type { Settings, SubAccount, SubAccountService } from './service.ts'
import { diffSettings, findSubAccount, type SettingChange, settingsOf } from './settings.ts'

/** What a replace is going to change of one sub account. */
export interface PlannedChange {
  readonly accountId: number
  readonly accountName: string
  readonly before: Settings
  /** The body of the replace. */
  readonly after: Settings
  /** Empty when everything is so already. */
  readonly changes: readonly SettingChange[]
}

/** Compares what an account is to be with what the list shows. Pure: sends nothing. */
export function planChange(account: SubAccount, after: Settings): PlannedChange {
  const { accountId, accountName } = account
  const before = settingsOf(account)
  return { accountId, accountName, before, after, changes: diffSettings(before, after) }
}

/** How a replace ended that the service took. */
export interface AppliedChange {
  /** What the list still shows otherwise; empty when it shows everything as it was sent. */
  readonly unshown: readonly SettingChange[]
  /** Why the list could not be read again. */
  readonly error?: Error
}

/**
 * Replaces the settings of an account, then lists until they show.
 *
 * The account is read again right before, and left as it is when it is no longer what the plan
 * was made from, unless `force` is set. Throws when nothing was replaced, or when that is unclear.
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

/** What was sent and the list shows otherwise; a member that the list never returns does not count. */
function unshown(listed: Settings, sent: Settings): SettingChange[] {
  return diffSettings(listed, sent).filter(({ before, after }) => {
    return before !== undefined && after !== undefined
  })
}

function changedMeanwhile(accountId: number, changes: readonly SettingChange[]): DashkeepError {
  const members = changes.map(({ member }) => member).join(', ')
  return new DashkeepError(
    `Cannot replace the settings of sub account ${accountId}: somebody else has changed ${members} since the plan was made`,
    { hint: 'nothing was sent: run it again to see the new plan, or --force to overwrite' },
  )
}

function unclear(accountId: number, error: Error): DashkeepError {
  return retell(
    error,
    `${error.message}; it is unclear whether account ${accountId} has the new settings`,
    'run it again: it shows what is left to change',
  )
}
