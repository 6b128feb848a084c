import { readAccountId } from '../../account-id.ts'
import { readStatus } from '../../archive/status.ts'
import { type AccountConfig, type Config, soleAccountName } from '../../config/config.ts'
import { shardOf } from '../../config/shard.ts'
import { DashkeepError } from '../../errors.ts'
import { matchesGlob } from '../../objects/match-object.ts'
import { connectAccount } from '../../open.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { Context } from '../context.ts'
import type { Terminal } from '../terminal.ts'

/** Accounts a hint names; there may be thousands. */
const MAX_NAMED = 20

/** Says whom an account's token belongs to; undefined when nobody can say. */
export type Identify = (account: AccountConfig) => Promise<number | undefined>

/** Asks the service for the ids of accounts that are configured without, each once. */
export function createIdentify({ config, log }: Context, { env, signal }: Terminal): Identify {
  const known = new Map<AccountConfig, number | undefined>()
  return async (account) => {
    if (known.has(account)) return known.get(account)
    try {
      await using service = await connectAccount(account, config, { env, log })
      known.set(account, (await service.whoami({ signal })).accountId)
    } catch {
      signal.throwIfAborted()
      known.set(account, undefined)
    }
    return known.get(account)
  }
}

/**
 * The configuration with only the accounts that were asked for by name, glob or id, in the order
 * asked for, and of these only what the shard of this process has. `identify` finds the ids of
 * accounts that are configured without; without it these have none.
 */
export async function selectAccounts(
  config: Config,
  wanted: readonly string[] | undefined,
  identify?: Identify,
): Promise<Config> {
  const named: AccountConfig[] = []
  for (const text of wanted ?? []) named.push(...(await findAccounts(config, text, identify)))
  const { shard } = config
  const accounts = [...new Set(wanted === undefined ? config.accounts : named)].filter(
    ({ name }) => shard === undefined || shardOf(name, shard.count) === shard.index,
  )
  return { ...config, accounts }
}

/**
 * Finds the configured account of exactly this name or id. Throws a `usage` error when there is
 * none, or when the text is the name of one and the id of another.
 */
export async function findAccount(
  config: Config,
  text: string,
  identify?: Identify,
): Promise<AccountConfig> {
  const id = readAccountId(text)
  const matches = config.accounts.filter(
    ({ name, accountId }) => name === text || (id !== undefined && accountId === id),
  )
  const [found, ...others] = matches
  if (others.length > 0) throw severalMeant(text, matches)
  if (found !== undefined) return found
  for (const account of id === undefined ? [] : config.accounts) {
    if (account.accountId === undefined && (await identify?.(account)) === id) return account
  }
  throw unknownAccount(config, `the account ${text}`)
}

async function findAccounts(
  config: Config,
  text: string,
  identify: Identify | undefined,
): Promise<AccountConfig[]> {
  if (!/[*?]/.test(text)) return [await findAccount(config, text, identify)]
  const found = config.accounts.filter(({ name }) => matchesGlob(name, text))
  if (found.length === 0) throw unknownAccount(config, `an account like ${text}`)
  return found
}

/**
 * Finds the configured accounts that a snapshot is of: those with its id, else those without an id that
 * have the name under which it was taken. Whom the token belongs to is for the service to say.
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
 * Finds the id of the account that a name or an id means: that of the configured account, else of
 * the account whose newest manifest records the name, as the configuration or the service had it.
 * An id need not be in the archive. Undefined for a configured account without an id of which the
 * archive knows nothing. Throws a `usage` error for a name that nothing knows, or that several
 * accounts have.
 */
export async function lookUpAccount(
  store: ObjectStore,
  config: Config,
  text: string,
  options: { now: Date; signal: AbortSignal },
): Promise<number | undefined> {
  const id = readAccountId(text)
  const configured = config.accounts.find(({ name }) => name === text)
  if (id !== undefined) {
    if (configured !== undefined && configured.accountId !== id) throw nameOrId(text, configured)
    return id
  }
  if (configured?.accountId !== undefined) return configured.accountId
  const recorded = await Array.fromAsync(readStatus(store, options))
  const asConfigured = recorded.filter(({ configuredAs }) => configuredAs === text)
  // The service's own name may be that of another account than the one configured so.
  const asNamed = configured ? [] : recorded.filter(({ accountName }) => accountName === text)
  const found = (asConfigured.length > 0 ? asConfigured : asNamed).map(({ accountId }) => accountId)
  if (found.length > 1) throw severalTaken(text, found)
  if (found.length === 0 && configured === undefined) {
    const names = recorded.map((one) => one.configuredAs ?? one.accountName ?? '')
    throw nowhereNamed(text, [...config.accounts.map(({ name }) => name), ...names])
  }
  return found[0]
}

/** Reads the `--account` of a verb that reads the archive; undefined when none is given. */
export async function resolveAccountId(
  store: ObjectStore,
  config: Config,
  text: string | undefined,
  options: { now: Date; signal: AbortSignal },
): Promise<number | undefined> {
  if (text === undefined) return undefined
  const accountId = await lookUpAccount(store, config, text, options)
  if (accountId !== undefined) return accountId
  throw new DashkeepError(
    `Cannot find the account ${text} in the archive: no snapshot was taken under this name`,
    {
      kind: 'usage',
      hint: 'give its id, or set its accountId in the configuration; `dashkeep list` shows the ids there are',
    },
  )
}

/**
 * What the configuration calls an account, or what the manifest of a run says that it called it.
 * Undefined for the one account of the environment, which nobody has named.
 */
export function configuredName(
  { accounts }: Config,
  accountId: number,
  recorded?: string | undefined,
): string | undefined {
  const found = accounts.find((account) => account.accountId === accountId)
  const name = found?.name ?? recorded
  return name === soleAccountName ? undefined : name
}

function unknownAccount({ accounts }: Config, what: string): DashkeepError {
  return new DashkeepError(`Cannot find ${what}: the configuration does not name it`, {
    kind: 'usage',
    hint: `it names ${listNames(accounts.map(({ name }) => name))}`,
  })
}

function nowhereNamed(text: string, names: readonly string[]): DashkeepError {
  const known = [...new Set(names)].filter((name) => name !== '')
  return new DashkeepError(
    `Cannot find the account ${text}: neither the configuration nor the newest manifests of the archive names it`,
    {
      kind: 'usage',
      hint: known.length > 0 ? `there are ${listNames(known)}` : '`dashkeep list` shows the ids',
    },
  )
}

function listNames(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
}

function severalMeant(text: string, matches: readonly AccountConfig[]): DashkeepError {
  const ways = matches.map(({ name, accountId }) => {
    const way = name === text ? accountId : name
    return way === undefined || String(way) === text ? `another name for ${name}` : String(way)
  })
  return new DashkeepError(
    `Cannot choose the account ${text}: several configured accounts have it as name or id`,
    { kind: 'usage', hint: `say ${ways.join(' or ')}` },
  )
}

function nameOrId(text: string, { accountId }: AccountConfig): DashkeepError {
  const way =
    accountId === undefined ? 'set the accountId of that account, and' : `say ${accountId}, or`
  return new DashkeepError(
    `Cannot choose the account ${text}: this is the configured name of an account and may be another's id`,
    { kind: 'usage', hint: `${way} give it a name that is no number` },
  )
}

function severalTaken(text: string, ids: readonly number[]): DashkeepError {
  return new DashkeepError(
    `Cannot choose the account ${text}: snapshots of several accounts were taken under this name`,
    { kind: 'usage', hint: `choose one by its id: ${ids.join(', ')}` },
  )
}
