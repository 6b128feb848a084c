import { findMissing, stateOf } from '../../archive/account-state.ts'
import { countObjects } from '../../archive/manifest.ts'
import { readStatus } from '../../archive/status.ts'
import type { AccountConfig } from '../../config/config.ts'
import { parseDuration } from '../../config/duration.ts'
import { DashkeepError } from '../../errors.ts'
import { findProofGap } from '../../proofs/judge.ts'
import { judgeAllProofs } from '../../proofs/judge-all.ts'
import { type CopyStatus, readCopies } from '../../run/copy-status.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatAge, formatBytes, plural } from '../../wording.ts'
import { type Context, createContext } from '../context.ts'
import type { CommonOptions } from '../options.ts'
import { printCopies } from '../print/copy-status.ts'
import { type Line, type LineProofs, unknownOwner } from '../print/status-line.ts'
import { formatProven, printProofs, proofsToJson } from '../print/status-proofs.ts'
import { formatTable } from '../print/table.ts'
import { logFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { configuredName, lookUpAccount } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'
import { manage } from './management.ts'
import type { Found } from './status-ping.ts'

/** `dashkeep status`: reports the state of every account, for people and for monitoring. */
export async function status(
  terminal: Terminal,
  options: CommonOptions & {
    account?: string
    maxAge?: string
    maxProofAge?: string
    listen?: string
    interval?: string
    ping?: boolean
  },
): Promise<number> {
  if (options.listen !== undefined) {
    const { serveStatus } = await import('./status-listen.ts')
    return serveStatus(terminal, { ...options, listen: options.listen })
  }
  if (options.interval !== undefined) {
    throw new DashkeepError('Cannot use --interval: it needs --listen', {
      kind: 'usage',
      hint: 'add for example --listen 127.0.0.1:5337',
    })
  }
  const { account } = options
  const maxAgeMs = readAge(options.maxAge)
  const maxProofAgeMs = readAge(options.maxProofAge)
  if (options.ping && maxAgeMs === undefined) throw neverStale
  const context = await createContext(terminal, options, ['store'])
  const judge = () => judgeArchive(terminal, context, { maxAgeMs, maxProofAgeMs, account })
  if (!options.ping) return (await judge()).exitCode
  const { pingFound } = await import('./status-ping.ts')
  return pingFound(terminal, context, judge)
}

const neverStale = new DashkeepError('Cannot ping: --ping needs --max-age', {
  kind: 'usage',
  hint: 'add --max-age 26h for daily backups',
})

/** Judges one account or all accounts, and prints the result. */
async function judgeArchive(
  terminal: Terminal,
  context: Context,
  { account, ...ages }: Ages & { account: string | undefined },
): Promise<Found> {
  const { config, log } = context
  await using store = await openWatchedArchive(terminal, { config, log })
  const now = terminal.now()
  terminal.progress.begin('reading', { unit: 'manifest', counting: 'read' })
  const asking = { now, ...ages, signal: terminal.signal }
  const lines = account
    ? await readAccount(store, context, account, asking)
    : await readLines(store, context, asking)
  let unlisted: Error | undefined
  if (account === undefined) {
    const configured = config.accounts.map(({ name, accountId }) => {
      return { name, accountId, configuredAs: name }
    })
    lines.push(...missingAccounts(configured, lines))
    const listed = await listSubAccounts(context, terminal)
    if (listed instanceof Error) unlisted = listed
    else lines.push(...missingAccounts(listed, lines))
  }
  if (!terminal.json) printStatus(terminal, lines, { now, url: store.url, unlisted })
  const accountId = account === undefined ? undefined : lines[0]?.accountId
  const copies = await readCopies(store, config, { ...asking, env: terminal.env, log, accountId })
  if (terminal.json) {
    const accounts = lines.map((line) => toJson(line, now))
    const document = { accounts, subAccountsError: unlisted?.message }
    terminal.printJson(copies.length > 0 ? { ...document, copies } : document)
  } else printCopies(terminal, copies, { now })
  const exitCode = exitCodeFor(lines, copies)
  const isPartly = exitCode === exitCodes.done && unlisted !== undefined
  return { lines, unlisted, exitCode: isPartly ? exitCodes.partly : exitCode }
}

/** Ages above which an account is a problem; undefined ages are not judged. */
interface Ages {
  /** Of the newest good snapshot. */
  readonly maxAgeMs: number | undefined
  /** Of the newest proof. */
  readonly maxProofAgeMs: number | undefined
}

function readAge(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDuration(text)
}

interface Asking extends Ages {
  readonly now: Date
  readonly signal: AbortSignal
}

async function readLines(
  store: ObjectStore,
  { config, log }: Context,
  asking: Asking & { accountId?: number | undefined },
): Promise<Line[]> {
  const lines: Line[] = []
  const { maxProofAgeMs: maxAgeMs, now } = asking
  const all = maxAgeMs === undefined ? undefined : await judgeAllProofs(store, asking)
  const proofsOf = (accountId: number): LineProofs | undefined => {
    const judgement = all?.of(accountId)
    return judgement && { judgement, gap: findProofGap(judgement, { now, maxAgeMs }) }
  }
  for await (const status of readStatus(store, asking)) {
    const { accountId, accountName: name, fromFuture } = status
    const configuredAs = configuredName(config, accountId, status.configuredAs)
    const proofs = proofsOf(accountId)
    const state = stateOf(status, { ...asking, unproven: proofs?.gap !== undefined })
    lines.push({ state, accountId, name, configuredAs, status, proofs })
    logFuture(log, accountId, fromFuture)
  }
  return lines
}

/** Reads the account with this name or id; it is missing when the archive has no snapshot of it. */
async function readAccount(
  store: ObjectStore,
  context: Context,
  text: string,
  asking: Asking,
): Promise<Line[]> {
  const accountId = await lookUpAccount(store, context.config, text, asking)
  const missing = { state: 'missing', accountId, status: undefined } as const
  // Only a configured account can have no id.
  if (accountId === undefined) return [{ ...missing, name: text, configuredAs: text }]
  const lines = await readLines(store, context, { ...asking, accountId })
  if (lines.length > 0) return lines
  const configuredAs = configuredName(context.config, accountId)
  return [{ ...missing, name: configuredAs, configuredAs }]
}

/** Lists the sub accounts of the managed main account. Returns the error when this fails. */
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
      .map(({ accountId, accountName: name }) => {
        return { accountId, name, configuredAs: configuredName(context.config, accountId) }
      })
  } catch (error) {
    terminal.signal.throwIfAborted()
    return error as Error
  }
}

type NamedAccount = Pick<AccountConfig, 'accountId' | 'name'> & {
  readonly configuredAs?: string | undefined
}

/** A line for each account without a snapshot. */
function missingAccounts(accounts: readonly NamedAccount[], lines: readonly Line[]): Line[] {
  const found = lines.map(({ accountId, status }) => {
    return { accountId, configuredAs: status?.configuredAs }
  })
  return findMissing(accounts, found).map(({ accountId, name, configuredAs }) => {
    return { state: 'missing', accountId, name, configuredAs, status: undefined }
  })
}

/** What is too old comes before all other states: it is what monitoring checks for. */
function exitCodeFor(lines: readonly Line[], copies: readonly CopyStatus[]): number {
  const isStale = copies.some(({ accounts }) => accounts.some(({ stale }) => stale))
  const isOld = ({ state, proofs }: Line) => state === 'stale' || proofs?.gap !== undefined
  if (isStale || lines.some(isOld)) return exitCodes.stale
  if (copies.some(({ error }) => error !== undefined)) return exitCodes.partly
  if (lines.length === 0 || lines.some(({ state }) => state !== 'good')) return exitCodes.partly
  return exitCodes.done
}

/** Stable members for programs; docs/json-output.md documents them. */
function toJson(line: Line, now: Date): object {
  const { state, accountId, name, configuredAs, status, proofs } = line
  const good = status?.newestGood
  const takenAt = status?.newestGoodAt
  return {
    accountId,
    name,
    configuredAs,
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
    proof: proofs && proofsToJson(proofs, now),
  }
}

function printStatus(
  terminal: Terminal,
  lines: readonly Line[],
  { now, url, unlisted }: { now: Date; url: string; unlisted: Error | undefined },
): void {
  const { colors } = terminal
  const withProofs = lines.some(({ proofs }) => proofs !== undefined)
  const rows = lines.map((line) => {
    const { state, accountId, name, configuredAs, status } = line
    const good = status?.newestGood
    return [
      String(accountId ?? ''),
      configuredAs ?? name ?? '',
      state === 'good' ? colors.green(state) : colors.red(state),
      good?.snapshot ?? '',
      status?.newestGoodAt ? formatAge(status.newestGoodAt, now) : '',
      ...(withProofs ? [formatProven(line, now)] : []),
      good ? String(countObjects(good)) : '',
      String(status?.snapshots ?? 0),
      formatBytes(status?.bytes ?? 0),
    ]
  })
  const ages = withProofs ? ['AGE', 'PROVEN'] : ['AGE']
  const header = ['ACCOUNT', 'NAME', 'STATE', 'NEWEST GOOD', ...ages]
  const right = [0, 1, 2].map((number) => header.length + number)
  header.push('OBJECTS', 'SNAPSHOTS', 'SIZE')
  const narrow = { flexible: ['NAME'], optional: ['SNAPSHOTS', 'SIZE', 'OBJECTS', 'PROVEN'] }
  const layout = { right: [0, ...right], ...narrow }
  if (rows.length > 0) terminal.print(formatTable(terminal, header, rows, layout))
  for (const { accountId, status } of lines) {
    for (const { snapshot, reasons } of status?.suspects ?? []) {
      terminal.print(`${colors.yellow('suspect')} ${accountId}/${snapshot}: ${reasons.join('; ')}`)
    }
    for (const problem of status?.problems ?? [])
      terminal.print(`${colors.red('damaged')} ${problem}`)
    for (const snapshot of status?.fromFuture ?? [])
      terminal.print(`${colors.red('from the future')} ${accountId}/${snapshot}`)
  }
  printProofs(terminal, lines, now)
  for (const { accountId, name } of lines) {
    if (accountId === undefined) terminal.print(`${colors.red('missing')} ${name}: ${unknownOwner}`)
  }
  if (unlisted) terminal.print(`${colors.yellow('unknown')} ${unlisted.message}`)
  if (rows.length > 0) terminal.print()
  terminal.print(`${plural(lines.length, 'account')} in ${url}`)
}
