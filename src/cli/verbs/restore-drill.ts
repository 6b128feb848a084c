import { type AccountStatus, readStatus } from '../../archive/status.ts'
import { OpenError } from '../../datafile/encryption.ts'
import { DashkeepError } from '../../errors.ts'
import { openEncryption, scanLimitsOf } from '../../open.ts'
import { proofOfDrill } from '../../proofs/drilled.ts'
import type { NewProof } from '../../proofs/proof.ts'
import type { DrillResult } from '../../restore/drill-index.ts'
import { isImportable } from '../../restore/source.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import type { ObjectStore } from '../../store/object-store.ts'
import { formatTime, plural } from '../../wording.ts'
import { createContext } from '../context.ts'
import { listSome } from '../print/list-some.ts'
import { describeAbsence, reportNothingProven } from '../print/nothing-proven.ts'
import {
  exitCodeOfRecorded,
  printRecorded,
  recordedToJson,
  recordProofs,
} from '../print/recorded.ts'
import { formatTable } from '../print/table.ts'
import { logFuture } from '../print/warn-of-future.ts'
import { openWatchedArchive } from '../print/watched-archive.ts'
import { resolveAccountId } from '../select/choose-account.ts'
import type { Terminal } from '../terminal.ts'
import { type DrillOptions, drillAccount } from './drill-account.ts'
import type { RestoreOptions } from './restore-options.ts'

/** The result of the drill of one account. */
interface AccountDrill extends AccountStatus {
  readonly startedAt: Date
  readonly endedAt: Date
  /** Undefined without a good snapshot, and when the restore failed. */
  readonly result?: DrillResult | undefined
  readonly error?: Error | undefined
}

/**
 * `dashkeep restore --drill`: restores the newest good snapshot of every account into a sandbox of its
 * own, with the normal client, and compares the restored objects byte for byte.
 */
export async function drill(terminal: Terminal, options: RestoreOptions): Promise<number> {
  const context = await createContext(terminal, options, ['store'])
  const { signal, env } = terminal
  const limits = scanLimitsOf(context.config)
  const reading = { limits, signal, opener: await openEncryption(context.config, env) }
  await using store = await openWatchedArchive(terminal, context)
  const now = terminal.now()
  const accountId = await resolveAccountId(store, context.config, options.account, { now, signal })
  const drills = await drillAll(terminal, store, { now, accountId, context, reading })
  if (drills.length === 0) {
    const absence = describeAbsence(store.url, 'snapshot', accountId)
    return reportNothingProven(terminal, absence, { accounts: [] })
  }
  const [first] = drills
  const failedToRun = (one: AccountDrill) => one.error !== undefined && resultOf(one) !== 'failed'
  if (first?.error !== undefined && drills.every(failedToRun)) throw first.error
  const recorded = options.record
    ? await recordProofs(terminal, store, drills.flatMap(proofsOf))
    : undefined
  if (terminal.json) {
    terminal.printJson({ accounts: drills.map(toJson), ...recordedToJson(recorded) })
  } else {
    printDrills(terminal, drills)
    printRecorded(terminal, recorded)
  }
  return exitCodeOfRecorded(exitCodeOfDrills(drills), recorded)
}

async function drillAll(
  terminal: Terminal,
  store: ObjectStore,
  { now, accountId, ...options }: DrillOptions & { now: Date; accountId: number | undefined },
): Promise<AccountDrill[]> {
  const { progress, signal } = terminal
  const drills: AccountDrill[] = []
  progress.begin('restoring into a sandbox', { unit: 'account' })
  for await (const status of readStatus(store, { now, accountId, signal })) {
    logFuture(options.context.log, status.accountId, status.fromFuture)
    progress.note(`account ${status.accountId}`)
    const startedAt = terminal.now()
    const tried = await tryDrill(store, status, options)
    drills.push({ ...status, ...tried, startedAt, endedAt: terminal.now() })
    progress.advance()
  }
  progress.end()
  return drills
}

/** The record of a drill; none when it could not run, because it says nothing about the backup. */
function proofsOf(drilled: AccountDrill): NewProof[] {
  const { newestGood, result: counts, error, unreadable } = drilled
  const result = resultOf(drilled)
  if (result !== 'restored' && result !== 'failed') return []
  const exports = newestGood?.exports.filter(({ type }) => isImportable(type)) ?? []
  const manifest = newestGood && { snapshot: newestGood.snapshot, exports }
  const damage = [...(error && isDamage(error) ? [error.message] : []), ...unreadable]
  return [proofOfDrill({ ...drilled, manifest, counts, damage })]
}

/** Only damage is a failure: a missing key or a full disk does not mean a bad backup. */
function exitCodeOfDrills(drills: readonly AccountDrill[]): number {
  const results = drills.map(resultOf)
  if (results.includes('failed')) return exitCodes.unverified
  return results.every((result) => result === 'restored') ? exitCodes.done : exitCodes.partly
}

async function tryDrill(
  store: ObjectStore,
  { newestGood }: AccountStatus,
  options: DrillOptions,
): Promise<Pick<AccountDrill, 'result' | 'error'>> {
  if (newestGood === undefined) return {}
  try {
    return { result: await drillAccount(store, newestGood, options) }
  } catch (error) {
    options.reading.signal.throwIfAborted()
    return { error: error as Error }
  }
}

function isDamage(error: Error): boolean {
  return error instanceof DashkeepError && error.kind === 'unverified'
}

/**
 * The result of the drill of an account:
 * - `restored`: every object was restored byte for byte.
 * - `failed`: the backup or a newer manifest is damaged, or objects are missing or different after the
 *   restore.
 * - `unopened`: the backup is encrypted and no configured key decrypts it.
 * - `unproven`: the drill could not run, or there is no good snapshot.
 */
type Result = 'restored' | 'failed' | 'unopened' | 'unproven'

function resultOf({ result, error, unreadable }: AccountDrill): Result {
  // The restore of an older snapshot proves nothing about the newest one.
  if (unreadable.length > 0) return 'failed'
  if (result !== undefined) return result.different === 0 ? 'restored' : 'failed'
  if (error instanceof OpenError) return 'unopened'
  return error !== undefined && isDamage(error) ? 'failed' : 'unproven'
}

function paintResult(drilled: AccountDrill, colors: Terminal['colors']): string {
  const result = resultOf(drilled)
  const { green, yellow, red } = colors
  return { restored: green, unopened: yellow, unproven: yellow, failed: red }[result](result)
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
  for (const { accountId, problems, unreadable } of drills) {
    for (const problem of problems) {
      const label = unreadable.includes(problem) ? colors.red('damaged') : colors.yellow('warning')
      terminal.print(`${label} ${accountId}: ${problem}`)
    }
  }
  const proven = drills.filter((drilled) => resultOf(drilled) === 'restored').length
  terminal.print()
  terminal.print(
    `${proven} of ${plural(drills.length, 'account')} restored into a sandbox, identical byte for byte`,
  )
}

function reasonsOf(drilled: AccountDrill): string[] {
  const { newestGood, result, error } = drilled
  const { differing = [], different = 0 } = result ?? {}
  return [
    ...(newestGood === undefined ? ['the archive holds no good snapshot'] : []),
    ...(error ? [error.message] : []),
    ...(different > 0
      ? [`different after the restore: ${listSome(differing, 10, different)}`]
      : []),
  ]
}

/** Stable members for programs; docs/json-output.md documents them. */
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
    different: result?.different,
    differing: result?.differing,
    reasons: reasonsOf(drilled),
    problems: drilled.problems,
    fromFuture: drilled.fromFuture,
  }
}
