import {
  type Coverage,
  type CoverageFound,
  coverageReasons,
  judgeCoverage,
  type KnownBackup,
} from '../../accounts/coverage.ts'
import type { SubAccount } from '../../accounts/service.ts'
import { readStatus } from '../../archive/status.ts'
import type { AccountConfig } from '../../config/config.ts'
import { parseDuration } from '../../config/duration.ts'
import { connectAccount } from '../../open.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatAge, plural } from '../../wording.ts'
import type { Context } from '../context.ts'
import { formatTable } from '../print/table.ts'
import { logFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import type { Terminal } from '../terminal.ts'
import { type ManagementOptions, type Managing, nameAccount, openManagement } from './management.ts'

interface CoverageOptions extends ManagementOptions {
  readonly maxAge?: string
}

/** `dashkeep accounts coverage`: lists whether sub accounts are backed up; exit code 3 when one is not. */
export async function coverage(terminal: Terminal, options: CoverageOptions): Promise<number> {
  const maxAgeMs = parseDuration(options.maxAge ?? '26h')
  await using managing = await openManagement(terminal, options, ['store'])
  const { config, log } = managing.context
  await using store = await openWatchedArchive(terminal, { config, log })
  const found = await readCoverage(terminal, managing, { store, maxAgeMs })
  const uncovered = found.accounts.filter(({ state }) => state !== 'covered').length
  if (terminal.json) {
    const { unidentified } = found
    const accounts = found.accounts.map(toJson)
    terminal.printJson({ main: managing.service.main, uncovered, accounts, unidentified })
  } else {
    terminal.print(`Sub accounts of main account ${nameAccount(managing.service.main)}`)
    print(terminal, found)
    terminal.print(`${uncovered} of ${plural(found.accounts.length, 'sub account')} not covered`)
  }
  return uncovered > 0 ? exitCodes.partly : exitCodes.done
}

/** Compares the sub accounts that the service lists with configuration and archive. */
export async function readCoverage(
  terminal: Terminal,
  managing: Managing,
  { store, maxAgeMs }: { store: ObjectStore; maxAgeMs: number },
): Promise<CoverageFound> {
  const readKnown = () => readBackups(store, terminal, managing.context)
  return compareSubAccounts(terminal, managing, { readKnown, maxAgeMs })
}

/** The same, with backups that are read elsewhere. */
export async function compareSubAccounts(
  terminal: Terminal,
  { context, service, mainId }: Managing,
  { readKnown, maxAgeMs }: { readKnown: () => Promise<readonly KnownBackup[]>; maxAgeMs: number },
): Promise<CoverageFound> {
  const listed = await service.listSubAccounts(terminal)
  const { configured, unidentified } = await identifyAccounts(context, terminal, listed)
  const known = { mainId, configured, backups: await readKnown(), now: terminal.now(), maxAgeMs }
  return { accounts: judgeCoverage(listed, known), unidentified }
}

async function readBackups(store: ObjectStore, { now, signal }: Terminal, { log }: Context) {
  const backups = await Array.fromAsync(readStatus(store, { now: now(), signal }))
  for (const { accountId, fromFuture } of backups) logFuture(log, accountId, fromFuture)
  return backups.map(({ accountId, newestGoodAt }) => ({ accountId, newestGood: newestGoodAt }))
}

/** Ids of the configured accounts. Asks the service about accounts configured without an id. */
async function identifyAccounts(
  { config, log }: Context,
  { env, signal }: Terminal,
  accounts: readonly SubAccount[],
): Promise<{ configured: ReadonlySet<number>; unidentified: string[] }> {
  const ids = config.accounts.flatMap(({ accountId }) => accountId ?? [])
  const configured = new Set(ids)
  const unidentified: string[] = []
  const covered = () => accounts.every(({ accountId }) => configured.has(accountId))
  const askFor = async (account: AccountConfig) => {
    await using service = await connectAccount(account, config, { env, log })
    configured.add((await service.whoami({ signal })).accountId)
  }
  for (const account of config.accounts) {
    if (account.accountId !== undefined || covered()) continue
    await askFor(account).catch(() => {
      signal.throwIfAborted()
      unidentified.push(account.name)
    })
  }
  return { configured, unidentified }
}

function toJson({ accountId, accountName, state, newestGood }: Coverage): object {
  return { accountId, accountName, state, newestGood: newestGood?.toISOString() }
}

function print(terminal: Terminal, { accounts, unidentified }: CoverageFound): void {
  const { colors } = terminal
  const rows = accounts.map(({ accountId, accountName, state, newestGood }) => [
    String(accountId),
    accountName,
    state === 'covered' ? colors.green(state) : colors.red(state),
    newestGood ? formatAge(newestGood, terminal.now()) : '',
    coverageReasons[state],
  ])
  const header = ['ACCOUNT', 'NAME', 'STATE', 'NEWEST GOOD', '']
  if (rows.length > 0)
    terminal.print(
      formatTable(terminal, header, rows, { right: [0], flexible: ['NAME'], wrapped: '' }),
    )
  for (const name of unidentified) {
    const state = 'the service did not say which account its token belongs to'
    terminal.print(`${colors.yellow('unidentified')} configured account ${name}: ${state}`)
  }
}
