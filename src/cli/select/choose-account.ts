import { readAccountId } from '../../account-id.ts'
import { readStatus } from '../../archive/status.ts'
import { type AccountConfig, type Config, soleAccountName } from '../../config/config.ts'
import { shardOf } from '../../config/shard.ts'
import { DashkeepError } from '../../errors.ts'
import { createGlob } from '../../objects/match-object.ts'
import { connectAccount } from '../../open.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import type { Context } from '../context.ts'
import { listSome } from '../print/list-some.ts'
import type { Terminal } from '../terminal.ts'

/** Accounts that a hint names. */
const MAX_NAMED = 20

/** Finds the id of the account that a token belongs to; undefined when the service does not tell. */
type Identify = (account: AccountConfig) => Promise<number | undefined>

/** Asks the service for the ids of accounts configured without one, once for each account. */
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
 * Returns the configuration with only the wanted accounts (names, patterns or ids), in the order of
 * `wanted`, and of these only the accounts of this process's shard. `identify` finds the ids of
 * accounts that are configured without one.
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

/** The accounts that a run backs up. */
interface ChosenAccounts {
  /** The configuration with only these accounts. */
  readonly config: Config
  /** All configured accounts, also those that the run does not back up. */
  readonly configured: readonly AccountConfig[]
  /** Whether `--account` leaves out accounts of this process's shard. */
  readonly isPartial: boolean
}

/** Chooses the accounts that `--account` and the shard mean (see `selectAccounts`). */
export async function chooseAccounts(
  config: Config,
  wanted: readonly string[] | undefined,
  identify?: Identify,
): Promise<ChosenAccounts> {
  const chosen = await selectAccounts(config, wanted, identify)
  const all = await selectAccounts(config, undefined)
  const isPartial = chosen.accounts.length < all.accounts.length
  return { config: chosen, configured: config.accounts, isPartial }
}

/**
 * Finds the configured account with exactly this name or id. Throws a `usage` error when there is
 * none, or when the text is the name of one account and the id of another.
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
  if (others.length > 0) throw ambiguousName(text, matches)
  if (found !== undefined) return found
  for (const account of id === undefined ? [] : config.accounts) {
    if (account.accountId === undefined && (await identify?.(account)) === id) return account
  }
  throw unknownAccount(config, `the account ${text}`)
}

/** Whether a text is a pattern for names, and not a name or an id. */
export function isPattern(text: string): boolean {
  return /[*?]/.test(text)
}

async function findAccounts(
  config: Config,
  text: string,
  identify: Identify | undefined,
): Promise<AccountConfig[]> {
  if (!isPattern(text)) return [await findAccount(config, text, identify)]
  const matches = createGlob(text)
  const found = config.accounts.filter(({ name }) => matches(name))
  if (found.length === 0) throw unknownAccount(config, `an account that matches ${text}`)
  return found
}

/**
 * Finds the id of an account by its name or id. Looks for the name in the configuration, then in the
 * newest manifest of each account, which records the configured name and the service's name. An id
 * need not be in the archive. Returns undefined for a configured account without an id that no
 * manifest records. Throws a `usage` error for an unknown name, and for a name of several accounts.
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
  // The service may use this name for another account than the configuration does.
  const asNamed = configured ? [] : recorded.filter(({ accountName }) => accountName === text)
  const found = (asConfigured.length > 0 ? asConfigured : asNamed).map(({ accountId }) => accountId)
  if (found.length > 1) throw severalRecorded(text, found)
  if (found.length === 0 && configured === undefined) {
    const names = recorded.map((one) => one.configuredAs ?? one.accountName ?? '')
    throw unknownName(text, [...config.accounts.map(({ name }) => name), ...names])
  }
  return found[0]
}

/** Finds the account id that `--account` means; undefined when the option is not given. */
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
    `Cannot find the account ${text}: no snapshot was taken under this name`,
    {
      kind: 'usage',
      hint: 'use its id, or set its accountId in the configuration; `dashkeep list` lists the ids',
    },
  )
}

/**
 * The configured name of an account, or the configured name that a manifest recorded. Undefined for
 * the single account configured by environment variables, which has no name.
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
  return new DashkeepError(`Cannot find ${what}: the configuration has no such account`, {
    kind: 'usage',
    hint: `use one of the configured names: ${listNames(accounts.map(({ name }) => name))}`,
  })
}

function unknownName(text: string, names: readonly string[]): DashkeepError {
  const known = [...new Set(names)].filter((name) => name !== '')
  return new DashkeepError(
    `Cannot find the account ${text}: neither the configuration nor the archive has this name`,
    {
      kind: 'usage',
      hint:
        known.length > 0
          ? `use one of the known names: ${listNames(known)}`
          : '`dashkeep list` lists the ids',
    },
  )
}

function listNames(names: readonly string[]): string {
  return listSome(names, MAX_NAMED)
}

function ambiguousName(text: string, matches: readonly AccountConfig[]): DashkeepError {
  const ways = matches.map(({ name, accountId }) => {
    const other = name === text ? accountId : name
    const isUsable = other !== undefined && String(other) !== text
    return isUsable ? `use ${other}` : `rename ${name} in the configuration`
  })
  return new DashkeepError(
    `Cannot choose the account ${text}: it is the name or id of several configured accounts`,
    { kind: 'usage', hint: ways.join(' or ') },
  )
}

function nameOrId(text: string, { accountId }: AccountConfig): DashkeepError {
  const way =
    accountId === undefined ? 'set the accountId of that account, and' : `use ${accountId}, or`
  return new DashkeepError(
    `Cannot choose the account ${text}: it is the name of a configured account and may be the id of another`,
    { kind: 'usage', hint: `${way} give it a name that is not a number` },
  )
}

function severalRecorded(text: string, ids: readonly number[]): DashkeepError {
  return new DashkeepError(
    `Cannot choose the account ${text}: the archive has several accounts with this name`,
    { kind: 'usage', hint: `use one of the ids ${listSome(ids.map(String), MAX_NAMED)}` },
  )
}
