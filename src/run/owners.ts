import pMap from 'p-map'
import { isSameService } from '../archive/origin.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { connectAccount } from '../open.ts'

/** What is known about the owners of tokens before the first backup. */
interface Owners {
  /** By configured name: id of the account that the token must belong to, or why there is no backup. */
  readonly known: ReadonlyMap<string, number | Error>
  /** Names of configured accounts whose owner is not known. */
  readonly unsettled: ReadonlySet<string>
}

/**
 * Finds the configured accounts that a snapshot may belong to: those with its account id, else those
 * without an id that have the name under which it was taken. Only the service knows the token's owner.
 */
export function ownersOf(
  { accounts }: Config,
  { id, configuredAs }: { id: number | undefined; configuredAs: string | undefined },
): AccountConfig[] {
  const own = accounts.filter(({ accountId }) => accountId === id && id !== undefined)
  if (own.length > 0) return own
  return accounts.filter(({ name, accountId }) => accountId === undefined && name === configuredAs)
}

/**
 * Finds the configured account whose token reads the present objects of a snapshot's account: its
 * owner, or the only configured account when that has no id. Undefined when there is none.
 */
export function findOwner(
  config: Config,
  owner: { readonly id: number; readonly configuredAs?: string | undefined },
): AccountConfig | undefined {
  const [only, ...others] = config.accounts
  const [found] = ownersOf(config, { id: owner.id, configuredAs: owner.configuredAs })
  if (found !== undefined) return found
  return others.length === 0 && only?.accountId === undefined ? only : undefined
}

interface SettleOptions {
  readonly env: Environment
  readonly log: Logger
  /** All configured accounts, when only some are backed up. */
  readonly configured?: readonly AccountConfig[] | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds accounts that are configured twice, before one of them is backed up. Never throws.
 *
 * Asks the service only when several accounts are configured, and then once for each account to back
 * up that has no configured id.
 */
export async function settleOwners(config: Config, options: SettleOptions): Promise<Owners> {
  const { configured = config.accounts } = options
  const known = new Map<string, number | Error>()
  for (const { name, accountId } of configured) {
    if (accountId !== undefined) known.set(name, accountId)
  }
  const ask = async (account: AccountConfig) => {
    const asking = askOwner(account, config, options)
    known.set(account.name, await asking.catch((error: Error) => error))
  }
  const unknown = config.accounts.filter(({ accountId }) => accountId === undefined)
  const isAlone = configured.length < 2
  if (!isAlone) await pMap(unknown, ask, { concurrency: config.limits.accounts })
  const claims = configured.flatMap((account) => {
    const accountId = known.get(account.name)
    return typeof accountId === 'number' ? { account, accountId } : []
  })
  const settled = new Set(claims.map(({ account }) => account.name))
  const unsettled = configured.map(({ name }) => name).filter((name) => !settled.has(name))
  for (const [name, error] of findDuplicates(claims)) known.set(name, error)
  return { known, unsettled: new Set(unsettled) }
}

async function askOwner(
  account: AccountConfig,
  config: Config,
  options: SettleOptions,
): Promise<number> {
  options.signal?.throwIfAborted()
  await using service = await connectAccount(account, config, options)
  const { accountId } = await service.whoami({ signal: options.signal })
  return accountId
}

/** A configured account and the id of its account at the service. */
export interface Claim {
  readonly account: AccountConfig
  readonly accountId: number
}

/** Largest number of other accounts that a message names. */
const MAX_NAMED = 3

/**
 * Finds configured accounts that are the same account of the service. Returns a `usage` error for
 * each, by name: the second backup would be a copy of the first, and the account that was meant is
 * not backed up.
 */
export function findDuplicates(claims: readonly Claim[]): Map<string, DashkeepError> {
  const groups = Map.groupBy(claims, ({ accountId }) => accountId).values()
  const duplicates = [...groups].filter(({ length }) => length > 1)
  const errors = duplicates.flatMap((group) =>
    group.map((claim): [string, DashkeepError] => [
      claim.account.name,
      describeDuplicate(
        claim,
        group.filter((other) => other !== claim).map(({ account }) => account),
      ),
    ]),
  )
  return new Map(errors)
}

function describeDuplicate(
  { account, accountId }: Claim,
  others: readonly AccountConfig[],
): DashkeepError {
  const named = others.slice(0, MAX_NAMED).map(({ name }) => name)
  const more = others.length > MAX_NAMED ? [`${others.length - MAX_NAMED} more`] : []
  const names = [...named, ...more].join(', ')
  const elsewhere = others.find(({ baseUrl }) => !isSameService(baseUrl, account.baseUrl))
  if (elsewhere === undefined) {
    return new DashkeepError(
      `Cannot back up ${account.name}: its token belongs to account ${accountId}, as does the token of ${names}`,
      {
        kind: 'usage',
        hint: 'give each configured account the token and the accountId of its own account, or remove one of them',
      },
    )
  }
  return new DashkeepError(
    `Cannot back up ${account.name}: account ${accountId} of ${account.baseUrl} has the same id as ${names} of ${elsewhere.baseUrl}`,
    {
      kind: 'usage',
      hint: 'configure the accounts of each service in a file of its own, with another prefix in store.url',
    },
  )
}
