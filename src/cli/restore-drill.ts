import { connectAccount, openEncryption, scanLimitsOf } from '../app.ts'
import type { AccountConfig } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import { type DrillResult, drillRestore } from '../restore/drill.ts'
import { snapshotSource } from '../restore/source.ts'
import { OpenError } from '../snapshot/encryption.ts'
import type { ReadOptions } from '../snapshot/read-objects.ts'
import { type AccountStatus, readStatus } from '../snapshot/status.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { resolveAccountId } from './choose-account.ts'
import { type Context, createContext } from './context.ts'
import { exitCodes } from './exit-codes.ts'
import { describeAbsence, reportNothingProven } from './nothing-proven.ts'
import type { RestoreOptions } from './restore.ts'
import { formatTable } from './table.ts'
import { formatTime, plural, type Terminal } from './terminal.ts'
import { logFuture } from './warn-of-future.ts'
import { openWatchedArchive } from './watched-archive.ts'

/** The sandbox takes larger requests than services do, and is quicker for it. */
const DRILL_BYTES = 16 * 1024 ** 2

/** What a drill has shown of one account. */
interface AccountDrill extends AccountStatus {
  /** Undefined when there was no good snapshot, or it could not be restored. */
  readonly result?: DrillResult | undefined
  readonly error?: Error | undefined
}

/**
 * `dashkeep restore --drill`: restores the newest good snapshot of every account into a service of
 * its own in memory, through the same client as ever, and compares what comes back byte for byte.
 */
export async function drill(terminal: Terminal, options: RestoreOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  const { signal, env } = terminal
  const limits = scanLimitsOf(context.config)
  const reading = { limits, signal, opener: await openEncryption(context.config, env) }
  const store = await openWatchedArchive(terminal, context)
  terminal.progress.begin('restoring into a sandbox', { unit: 'account' })
  const drills: AccountDrill[] = []
  const now = terminal.now()
  let accountId: number | undefined
  try {
    accountId = await resolveAccountId(store, context.config, options.account, { now, signal })
    for await (const status of readStatus(store, { now, accountId, signal })) {
      logFuture(context.log, status.accountId, status.fromFuture)
      terminal.progress.note(`account ${status.accountId}`)
      drills.push({ ...status, ...(await drillAccount(store, status, { context, reading })) })
      terminal.progress.advance()
    }
  } finally {
    terminal.progress.end()
    await store.close()
  }
  if (drills.length === 0) {
    const absence = describeAbsence(store.url, 'snapshot', accountId)
    return reportNothingProven(terminal, absence, { accounts: [] })
  }
  const [first] = drills
  if (first?.error !== undefined && drills.every(isUnopened)) throw first.error
  if (terminal.json) terminal.printJson({ accounts: drills.map(toJson) })
  else printDrills(terminal, drills)
  return exitCodeOfDrills(drills)
}

/** A key that does not fit says nothing about the backups: that account is left over, not failed. */
function exitCodeOfDrills(drills: readonly AccountDrill[]): number {
  if (drills.every(isProven)) return exitCodes.done
  return drills.every((one) => isProven(one) || isUnopened(one))
    ? exitCodes.partly
    : exitCodes.unverified
}

function isUnopened({ error }: AccountDrill): boolean {
  return error instanceof OpenError
}

async function drillAccount(
  store: ObjectStore,
  { accountId, newestGood }: AccountStatus,
  { context, reading }: { context: Context; reading: ReadOptions & { signal: AbortSignal } },
): Promise<Pick<AccountDrill, 'result' | 'error'>> {
  if (newestGood === undefined) return {}
  const { config, log } = context
  const { startSandbox } = await import('../sandbox/sandbox.ts')
  const types = newestGood.exports.map(({ type }) => type)
  const kibanaVersion = newestGood.exports[0]?.kibanaVersion ?? ''
  const token = 'drill'
  const seed = { accountId, accountName: 'Drill', apiTokens: [token], kibanaVersion }
  await using sandbox = await startSandbox({ form: 'deployed', types, accounts: [seed] })
  const account: AccountConfig = {
    name: `drill of ${accountId}`,
    baseUrl: sandbox.url,
    pathPrefix: sandbox.pathPrefix,
    accountId,
    token: { env: 'TOKEN' },
  }
  const plainConfig = { ...config, importPath: '/kibana/import' }
  await using target = await connectAccount(account, plainConfig, { env: { TOKEN: token }, log })
  try {
    const result = await drillRestore(snapshotSource(store, newestGood, reading), target, {
      limits: scanLimitsOf(config),
      attempts: config.limits.attempts,
      retryBaseMs: config.limits.retryBaseMs,
      maxImportBytes: Math.max(config.limits.maxImportBytes, DRILL_BYTES),
      signal: reading.signal,
    })
    return { result }
  } catch (error) {
    reading.signal.throwIfAborted()
    const usage = error instanceof DashkeepError && error.kind === 'usage'
    if (usage && !(error instanceof OpenError)) throw error
    return { error: error as Error }
  }
}

function isProven({ result }: AccountDrill): boolean {
  return (
    result !== undefined &&
    result.error === undefined &&
    result.differing.length === 0 &&
    result.restored === result.objects
  )
}

/** `unopened` when no key opens its files. */
function resultOf(drilled: AccountDrill): 'restored' | 'unopened' | 'failed' {
  if (isProven(drilled)) return 'restored'
  return isUnopened(drilled) ? 'unopened' : 'failed'
}

function paintResult(drilled: AccountDrill, colors: Terminal['colors']): string {
  const result = resultOf(drilled)
  const paints = { restored: colors.green, unopened: colors.yellow, failed: colors.red }
  return paints[result](result)
}

function printDrills(terminal: Terminal, drills: readonly AccountDrill[]): void {
  const { colors } = terminal
  const rows = drills.map((drilled) => [
    String(drilled.accountId),
    drilled.newestGood?.snapshot ?? '',
    drilled.newestGood ? formatTime(new Date(drilled.newestGood.takenAt)) : '',
    drilled.result ? String(drilled.result.objects) : '',
    drilled.result ? String(drilled.result.restored) : '',
    paintResult(drilled, colors),
  ])
  const header = ['ACCOUNT', 'SNAPSHOT', 'TAKEN', 'OBJECTS', 'RESTORED', 'RESULT']
  terminal.print(formatTable(terminal, header, rows, { right: [0, 3, 4], optional: ['TAKEN'] }))
  for (const drilled of drills) {
    for (const reason of reasonsOf(drilled)) {
      terminal.print(`${paintResult(drilled, colors)} ${drilled.accountId}: ${reason}`)
    }
  }
  for (const { accountId, problems } of drills) {
    for (const problem of problems)
      terminal.print(`${colors.yellow('warning')} ${accountId}: ${problem}`)
  }
  const proven = drills.filter(isProven).length
  terminal.print()
  terminal.print(
    `${proven} of ${plural(drills.length, 'account')} restored into a sandbox, each object the same to the byte`,
  )
}

function reasonsOf(drilled: AccountDrill): string[] {
  const { newestGood, result } = drilled
  if (isProven(drilled)) return []
  const error = drilled.error ?? result?.error
  const ids = result?.differing ?? []
  const more = ids.length > 10 ? ` and ${ids.length - 10} more` : ''
  return [
    ...(newestGood === undefined ? ['the archive holds no good snapshot of it'] : []),
    ...(error ? [error.message] : []),
    ...(ids.length > 0 ? [`not the same: ${ids.slice(0, 10).join(', ')}${more}`] : []),
  ]
}

/** Stable members for programs; documented in the README. */
function toJson(drilled: AccountDrill): object {
  const { accountId, accountName, newestGood, result } = drilled
  return {
    accountId,
    accountName,
    snapshot: newestGood?.snapshot,
    takenAt: newestGood?.takenAt,
    result: resultOf(drilled),
    objects: result?.objects,
    restored: result?.restored,
    differing: result?.differing,
    reasons: reasonsOf(drilled),
    problems: drilled.problems,
    fromFuture: drilled.fromFuture,
  }
}
