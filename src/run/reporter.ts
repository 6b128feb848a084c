import pMap from 'p-map'
import { totalChanges } from '../archive/changes.ts'
import { isFromFuture } from '../archive/future.ts'
import { adviseOnSuspect } from '../archive/guard.ts'
import { countObjects, countStoredBytes } from '../archive/manifest.ts'
import { snapshotTime } from '../archive/snapshot-name.ts'
import { readStatus } from '../archive/status.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { readSecret } from '../config/secrets.ts'
import { hintOf } from '../errors.ts'
import type { Logger, LogTail } from '../log.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { AccountBackup } from './back-up.ts'
import { createNotifier } from './notify/notifier.ts'
import type { AccountOutcome, GoodSnapshot, RunOutcome } from './outcome.ts'

/** Accounts whose last good snapshot is looked up at once. */
const LOOKUPS_AT_ONCE = 8

/** How long notifications and metrics may still be sent once the process is asked to stop. */
const SENDING_AFTER_STOP_MS = 2000

/** How long the archive is asked, all in all, since when there is no good snapshot. */
const LOOKUP_MS = 5000

export interface ReporterOptions {
  readonly env: Environment
  readonly tail: LogTail
  readonly now: () => Date
  /** Wait before what could not be sent is sent again. */
  readonly retryBaseMs?: number | undefined
  /** Asks the process to stop. What is being sent then has two more seconds. */
  readonly signal?: AbortSignal | undefined
  readonly onRun?: (run: RunOutcome) => void
  readonly onFailedNotification?: (kind: string) => void
}

/** Makes runs known, by log, metrics and notifications. It remembers from run to run. */
export interface Reporter {
  /** Takes over what the archive says of an account. */
  remember(account: string, good: GoodSnapshot): void
  /** Begins a run over the accounts of `config`; `configured` are all there are. */
  begin(config: Config, options: BeginOptions): RunReport
}

interface BeginOptions {
  readonly run: string
  readonly log: Logger
  readonly configured: readonly AccountConfig[]
}

/** Gathers how one run goes. Nothing here throws: a run does not fail for being told of. */
export interface RunReport {
  note(backup: AccountBackup): void
  /** Adds something to look at to an account that has been noted. */
  warn(account: string, warning: string): void
  /** Tells of the run. `error` is what ended it as a whole. */
  end(ending: {
    exitCode: number
    error?: Error | undefined
    store?: ObjectStore | undefined
  }): Promise<void>
}

interface Memory {
  readonly lastGood?: GoodSnapshot | undefined
  readonly badSince?: Date | undefined
}

/** What is kept of an account's backup until the run has ended: not the names of its objects. */
type Note = Omit<AccountOutcome, 'account' | 'lastGood' | 'badSince' | 'recovered'> & {
  /** Of the archive as this run left it; undefined when it must be remembered or looked up. */
  readonly lastGood: GoodSnapshot | undefined
  readonly recovered: boolean
}

export function createReporter(options: ReporterOptions): Reporter {
  const memory = new Map<string, Memory>()
  const signal = options.signal && delayAbort(options.signal, SENDING_AFTER_STOP_MS)

  function begin(config: Config, { run, log, configured }: BeginOptions): RunReport {
    const startedAt = options.now()
    const notes = new Map<string, Note>()
    const notifier = createNotifier(config.notifications, {
      readAddress: (source) => readSecret(source, options.env, 'address'),
      logTail: options.tail.text,
      log,
      findProxy: config.findProxy,
      onFailure: (kind) => options.onFailedNotification?.(kind),
      retryBaseMs: options.retryBaseMs,
      signal,
      shard: config.shard,
      accounts: config.accounts.length,
    })
    log.info({ accounts: config.accounts.length }, 'run begins')
    void notifier.started()

    return {
      note: (backup) => void notes.set(backup.account.name, toNote(backup)),
      warn(account, warning) {
        const note = notes.get(account)
        if (note) notes.set(account, { ...note, reasons: [...note.reasons, warning] })
      },
      async end({ exitCode, error, store }) {
        if (error) for (const account of config.accounts) noteFailure(notes, account, error)
        const now = options.now()
        forgetFuture(memory, now)
        if (store && isHeard(config, options)) await lookUpLastGood(notes, memory, { store, now })
        const accounts = config.accounts.flatMap(({ name: account }) => {
          const note = notes.get(account)
          if (note === undefined) return []
          const outcome = toOutcome(account, note, { before: memory.get(account), startedAt })
          const { lastGood, result, badSince } = outcome
          memory.set(account, { lastGood, badSince: result === 'good' ? undefined : badSince })
          return outcome
        })
        const outcome: RunOutcome = {
          run,
          startedAt,
          endedAt: options.now(),
          exitCode,
          accounts,
          error: error && { message: error.message, hint: hintOf(error) },
        }
        logOutcome(log, outcome)
        options.onRun?.(outcome)
        await Promise.all([
          exportMetrics(config, outcome, { ...options, log, configured, signal }),
          notifier.ended(outcome),
        ])
      },
    }
  }

  return {
    remember: (account, lastGood) => void memory.set(account, { ...memory.get(account), lastGood }),
    begin,
  }
}

/** Aborts when `signal` did so many milliseconds ago, for the same reason. */
function delayAbort(signal: AbortSignal, delayMs: number): AbortSignal {
  const delayed = new AbortController()
  const arm = () => void setTimeout(() => delayed.abort(signal.reason), delayMs).unref()
  if (signal.aborted) arm()
  else signal.addEventListener('abort', arm, { once: true })
  return delayed.signal
}

function toNote({ accountId, durationMs, retries, taken, error }: AccountBackup): Note {
  const effort = { accountId, durationMs, retries }
  if (error !== undefined) {
    const failure = { result: 'failed', reasons: [error.message], hint: hintOf(error) } as const
    return { ...effort, ...failure, taken: undefined, lastGood: undefined, recovered: false }
  }
  const { manifest, changes, warnings, recovered } = taken
  const { suspect, snapshot } = manifest
  return {
    ...effort,
    result: suspect ? 'suspect' : 'good',
    taken: {
      snapshot,
      objects: countObjects(manifest),
      storedBytes: countStoredBytes(manifest),
      changes: changes && totalChanges(changes),
    },
    reasons: [...(suspect?.reasons ?? []), ...warnings],
    hint: suspect && adviseOnSuspect(manifest.exports),
    lastGood: goodSnapshot(suspect ? suspect.lastGood : snapshot),
    recovered,
  }
}

/** A run that failed as a whole has failed for every account that it did not come to. */
function noteFailure(notes: Map<string, Note>, account: AccountConfig, error: Error): void {
  if (notes.has(account.name)) return
  const { accountId } = account
  notes.set(account.name, toNote({ account, accountId, durationMs: 0, retries: 0, error }))
}

/** A good snapshot by its name; undefined without one. */
export function goodSnapshot(snapshot: string | undefined): GoodSnapshot | undefined {
  const takenAt = snapshot === undefined ? undefined : snapshotTime(snapshot)
  return snapshot && takenAt ? { snapshot, takenAt } : undefined
}

function toOutcome(
  account: string,
  note: Note,
  { before = {}, startedAt }: { before: Memory | undefined; startedAt: Date },
): AccountOutcome {
  const good = note.result === 'good'
  return {
    ...note,
    account,
    lastGood: note.lastGood ?? before.lastGood,
    badSince: before.badSince ?? (good ? undefined : startedAt),
    recovered: good && (note.recovered || before.badSince !== undefined),
  }
}

/** Whether anybody is told more than the log says. */
function isHeard({ notifications, metrics }: Config, { onRun }: ReporterOptions): boolean {
  return notifications.length > 0 || Boolean(onRun || metrics.textfile || metrics.pushgateway)
}

/** Forgets snapshots that a run with a wrong clock left in the memory. */
function forgetFuture(memory: Map<string, Memory>, now: Date): void {
  for (const [account, { lastGood, badSince }] of memory) {
    if (lastGood && isFromFuture(lastGood, now)) memory.set(account, { badSince })
  }
}

/** Asks the archive for the newest good snapshot of accounts that failed, if nobody knows it. */
async function lookUpLastGood(
  notes: ReadonlyMap<string, Note>,
  memory: Map<string, Memory>,
  { store, now }: { store: ObjectStore; now: Date },
): Promise<void> {
  const signal = AbortSignal.timeout(LOOKUP_MS)
  const unknown = [...notes].filter(
    ([account, { result }]) => result === 'failed' && memory.get(account)?.lastGood === undefined,
  )
  const lookUp = async ([account, { accountId }]: (typeof unknown)[number]) => {
    if (accountId === undefined) return
    const lastGood = await findLastGood(store, accountId, { now, signal })
    memory.set(account, { ...memory.get(account), lastGood })
  }
  // An archive that does not answer leaves it unknown; the run has said what is wrong with it.
  await pMap(unknown, lookUp, { concurrency: LOOKUPS_AT_ONCE }).catch(() => {})
}

/** The newest good, undamaged snapshot of an account, by the archive; undefined when there is none. */
async function findLastGood(
  store: ObjectStore,
  accountId: number,
  options: { now: Date; signal?: AbortSignal | undefined },
): Promise<GoodSnapshot | undefined> {
  for await (const { newestSound } of readStatus(store, { accountId, ...options })) {
    return goodSnapshot(newestSound?.snapshot)
  }
  return undefined
}

function logOutcome(log: Logger, { accounts, error, startedAt, endedAt, exitCode }: RunOutcome) {
  const count = (wanted: AccountOutcome['result']) =>
    accounts.filter(({ result }) => result === wanted).length
  const [good, suspect, failed] = [count('good'), count('suspect'), count('failed')]
  const durationMs = endedAt.getTime() - startedAt.getTime()
  const level = exitCode === 0 ? 'info' : error ? 'error' : 'warn'
  log[level]({ good, suspect, failed, durationMs, exitCode, reason: error?.message }, 'run ended')
}

async function exportMetrics(
  { metrics: { textfile, pushgateway }, findProxy }: Config,
  run: RunOutcome,
  { log, configured, retryBaseMs, signal }: Omit<BeginOptions, 'run'> & ReporterOptions,
): Promise<void> {
  if (textfile === undefined && pushgateway === undefined) return
  // Imported late: most runs have nobody to export for.
  const { pushMetrics, writeTextfile } = await import('./metrics/export.ts')
  const complain = (error: Error) =>
    log.error({ reason: error.message, hint: hintOf(error) }, 'metrics not exported')
  if (textfile) {
    const names = new Set(configured.map(({ name }) => name))
    await writeTextfile(textfile, run, names).catch(complain)
  }
  if (pushgateway) {
    await pushMetrics(pushgateway, run, { findProxy, retryBaseMs, signal }).catch(complain)
  }
}
