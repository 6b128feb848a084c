import { readAccountId } from '../../account-id.ts'
import type { PollLimits } from '../../accounts/list-until.ts'
import type { AccountConfig } from '../../config/config.ts'
import type { ConfigNeed } from '../../config/load.ts'
import { DashkeepError } from '../../errors.ts'
import { connectManagement, type Management } from '../../open.ts'
import { type Context, createContext, parseId } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { createIdentify, findAccount } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'

/** Options of every verb that manages sub accounts. */
export interface ManagementOptions extends CommonOptions {
  /** Name or id of the configured main account. */
  readonly account?: string
  readonly yes?: boolean
  /** Prints the plan and the exact bodies of its requests, and sends nothing. */
  readonly dryRun?: boolean
}

/** A connection with a main account's token, and how patient to be with its lists. */
export interface Managing extends AsyncDisposable {
  readonly context: Context
  readonly service: Management
  readonly mainId: number
  readonly pollLimits: PollLimits
}

/** Reads the configuration and connects to the main account that it or the options name. */
export async function openManagement(
  terminal: Terminal,
  options: ManagementOptions,
  needs: readonly ConfigNeed[] = [],
): Promise<Managing> {
  const context = await createContext(terminal, options, needs)
  terminal.progress.begin('asking the service')
  return manage(terminal, context, await chooseMainAccount(terminal, context, options.account))
}

/** Connects with the token of a main account. */
export async function manage(
  terminal: Terminal,
  context: Context,
  account: AccountConfig,
): Promise<Managing> {
  const { config, log } = context
  const service = await connectManagement(account, config, { ...terminal, log })
  return {
    context,
    service,
    mainId: service.main.accountId,
    pollLimits: { waitMs: config.limits.retryBaseMs, lists: 8 },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** Chooses the account with this name or id, else the configured main account, else the only account. */
async function chooseMainAccount(
  terminal: Terminal,
  context: Context,
  text: string | undefined,
): Promise<AccountConfig> {
  const { accounts, management } = context.config
  if (text !== undefined) {
    const id = readAccountId(text)
    const isManagement = id !== undefined && id === management?.accountId
    // The management token is used even when another token backs up the same account.
    if (isManagement && !accounts.some(({ name }) => name === text)) return management
    return findAccount(context.config, text, createIdentify(context, terminal))
  }
  const [first, ...others] = accounts
  const found = management ?? (others.length === 0 ? first : undefined)
  if (found !== undefined) return found
  throw new DashkeepError(
    `Cannot choose the main account: ${first ? 'several accounts are configured' : 'none is configured'}`,
    {
      kind: 'usage',
      hint: 'name it with --account, or configure management.token; without a file, set DASHKEEP_BASE_URL and DASHKEEP_API_TOKEN',
    },
  )
}

/** An account as messages name it: id and name. */
export function nameAccount({
  accountId,
  accountName,
}: {
  readonly accountId: number
  readonly accountName: string
}): string {
  return `${accountId} (${accountName})`
}

/** Prints the exact body of a request. */
export function printBody(terminal: Terminal, body: object): void {
  terminal.printJson(body, (one) => JSON.stringify(one, undefined, 2))
}

/** A setting as tables and messages show it. */
export function formatValue(value: unknown): string {
  return value === undefined ? 'not set' : JSON.stringify(value)
}

/** Reads GB per day, such as `3` or `0.5`. Throws a `usage` error for anything else. */
export function parseGb(text: string): number {
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text)
  throw new DashkeepError(`Cannot use ${text} as GB per day: it is not a number`, {
    kind: 'usage',
    hint: 'use a number such as 3 or 0.5',
  })
}

/** Reads the id of a sub account. Throws a `usage` error for anything else. */
export function parseSubAccountId(text: string): number {
  return parseId(text, 'id of a sub account', 'dashkeep accounts list')
}
