import { openArchive } from '../app.ts'
import type { AccountConfig } from '../config/config.ts'
import { parseDuration } from '../config/duration.ts'
import { countObjects } from '../snapshot/manifest.ts'
import { type AccountStatus, readStatus } from '../snapshot/status.ts'
import { type Context, createContext, parseAccountId } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { manage } from './management.ts'
import type { CommonOptions } from './program.ts'
import { formatTable } from './table.ts'
import { formatAge, formatBytes, plural, type Terminal } from './terminal.ts'
import { logFuture } from './warn-of-future.ts'

type State = 'good' | 'stale' | 'suspect' | 'damaged' | 'from-future' | 'missing'

/** One account as people and programs are told of it. */
interface Line {
  readonly state: State
  readonly accountId: number | undefined
  readonly name: string | undefined
  readonly status: AccountStatus | undefined
}

/** `dashkeep status`: fit for a monitoring check by its exit code and its JSON alike. */
export async function status(
  terminal: Terminal,
  options: CommonOptions & { account?: string; maxAge?: string },
): Promise<number> {
  const accountId = parseAccountId(options.account)
  const maxAgeMs = options.maxAge === undefined ? undefined : parseDuration(options.maxAge)
  const context = await createContext(terminal, options, ['store'])
  const { config, log } = context
  const store = await openArchive(config, { env: terminal.env, log })
  const now = terminal.now()
  try {
    const lines: Line[] = []
    for await (const found of readStatus(store, { now, accountId, signal: terminal.signal })) {
      const { accountName: name } = found
      const state = stateOf(found, { now, maxAgeMs })
      lines.push({ state, accountId: found.accountId, name, status: found })
      logFuture(context.log, found.accountId, found.fromFuture)
    }
    let unlisted: Error | undefined
    if (accountId === undefined) {
      lines.push(...missingAccounts(config.accounts, lines))
      const listed = await listSubAccounts(context, terminal)
      if (listed instanceof Error) unlisted = listed
      else lines.push(...missingAccounts(listed, lines))
    } else if (lines.length === 0) {
      lines.push({ state: 'missing', accountId, name: undefined, status: undefined })
    }
    if (terminal.json) {
      const accounts = lines.map((line) => toJson(line, now))
      terminal.printJson({ accounts, subAccountsError: unlisted?.message })
    } else printStatus(terminal, lines, { now, url: store.url, unlisted })
    const exitCode = exitCodeFor(lines)
    return exitCode === exitCodes.done && unlisted ? exitCodes.partly : exitCode
  } finally {
    await store.close()
  }
}

function stateOf(
  { newestGoodAt, suspects, problems, fromFuture }: AccountStatus,
  { now, maxAgeMs }: { now: Date; maxAgeMs: number | undefined },
): State {
  if (newestGoodAt === undefined) {
    if (problems.length > 0) return 'damaged'
    return suspects.length === 0 && fromFuture.length > 0 ? 'from-future' : 'suspect'
  }
  const age = now.getTime() - newestGoodAt.getTime()
  if (maxAgeMs !== undefined && age > maxAgeMs) return 'stale'
  if (problems.length > 0) return 'damaged'
  if (suspects.length > 0) return 'suspect'
  return fromFuture.length > 0 ? 'from-future' : 'good'
}

/** The sub accounts of the main account that is managed, if any, or why they are not known. */
async function listSubAccounts(
  context: Context,
  terminal: Terminal,
): Promise<NamedAccount[] | Error> {
  const { management } = context.config
  if (management === undefined) return []
  try {
    await using managing = await manage(terminal, context, management)
    const listed = await managing.service.listSubAccounts(terminal)
    return listed
      .filter(({ accountId }) => accountId !== managing.mainId)
      .map(({ accountId, accountName }) => ({ accountId, name: accountName }))
  } catch (error) {
    terminal.signal.throwIfAborted()
    return error as Error
  }
}

type NamedAccount = Pick<AccountConfig, 'accountId' | 'name'>

/**
 * Accounts of which the archive holds nothing. One without a configured id is there when the newest
 * snapshot of some account was taken under its configured name.
 */
function missingAccounts(accounts: readonly NamedAccount[], lines: readonly Line[]): Line[] {
  const ids = new Set(lines.map(({ accountId }) => accountId))
  const names = new Set(lines.map(({ status }) => status?.configuredAs))
  return accounts
    .filter(({ accountId, name }) =>
      accountId === undefined ? !names.has(name) : !ids.has(accountId),
    )
    .map(({ accountId, name }) => ({ state: 'missing', accountId, name, status: undefined }))
}

/** Why an account without a configured id is missing. */
const unknownOwner =
  'the newest snapshot of no account was taken under this name; run a backup, or set its accountId'

/** Stale weighs most, since it is what a monitoring check asks for. */
function exitCodeFor(lines: readonly Line[]): number {
  if (lines.some(({ state }) => state === 'stale')) return exitCodes.stale
  if (lines.length === 0 || lines.some(({ state }) => state !== 'good')) return exitCodes.partly
  return exitCodes.done
}

/** Stable members for programs; documented in the README. */
function toJson({ state, accountId, name, status }: Line, now: Date): object {
  const good = status?.newestGood
  const takenAt = status?.newestGoodAt
  return {
    accountId,
    name,
    state,
    snapshot: good?.snapshot,
    takenAt: good?.takenAt,
    ageSeconds: takenAt && Math.round((now.getTime() - takenAt.getTime()) / 1000),
    objects: good && countObjects(good),
    snapshots: status?.snapshots ?? 0,
    bytes: status?.bytes ?? 0,
    suspects: status?.suspects ?? [],
    problems: status?.problems ?? (accountId === undefined ? [unknownOwner] : []),
    fromFuture: status?.fromFuture ?? [],
  }
}

function printStatus(
  terminal: Terminal,
  lines: readonly Line[],
  { now, url, unlisted }: { now: Date; url: string; unlisted: Error | undefined },
): void {
  const { colors } = terminal
  const rows = lines.map(({ state, accountId, name = '', status }) => {
    const good = status?.newestGood
    return [
      String(accountId ?? ''),
      name,
      state === 'good' ? colors.green(state) : colors.red(state),
      good?.snapshot ?? '',
      status?.newestGoodAt ? formatAge(status.newestGoodAt, now) : '',
      good ? String(countObjects(good)) : '',
      String(status?.snapshots ?? 0),
      formatBytes(status?.bytes ?? 0),
    ]
  })
  const header = ['ACCOUNT', 'NAME', 'STATE', 'NEWEST GOOD', 'AGE', 'OBJECTS', 'SNAPSHOTS', 'SIZE']
  if (rows.length > 0) terminal.print(formatTable(header, rows, { colors, right: [0, 5, 6, 7] }))
  for (const { accountId, status } of lines) {
    for (const { snapshot, reasons } of status?.suspects ?? []) {
      terminal.print(`${colors.yellow('suspect')} ${accountId}/${snapshot}: ${reasons.join('; ')}`)
    }
    for (const problem of status?.problems ?? [])
      terminal.print(`${colors.red('damaged')} ${problem}`)
    for (const snapshot of status?.fromFuture ?? [])
      terminal.print(`${colors.red('from the future')} ${accountId}/${snapshot}`)
  }
  for (const { accountId, name } of lines) {
    if (accountId === undefined) terminal.print(`${colors.red('missing')} ${name}: ${unknownOwner}`)
  }
  if (unlisted) terminal.print(`${colors.yellow('unknown')} ${unlisted.message}`)
  if (rows.length > 0) terminal.print()
  terminal.print(`${plural(lines.length, 'account')} in ${url}`)
}
