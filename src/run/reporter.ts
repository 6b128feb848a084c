import pMap from 'p-map'
import { isFromFuture } from '../archive/future.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { readSecret } from '../config/secrets.ts'
import { hintOf } from '../errors.ts'
import type { Logger, LogTail } from '../log.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { type AccountHistory, type AccountResult, outcomeOf, resultOf } from './account-result.ts'
import type { AccountBackup } from './back-up.ts'
import { findLastGood } from './last-good.ts'
import { createNotifier } from './notify/notifier.ts'
import { type AccountOutcome, countResults, type GoodSnapshot, type RunOutcome } from './outcome.ts'

/** Accounts whose last good snapshot is looked up at once. */
const LOOKUPS_AT_ONCE = 8

/** Longest time for looking up the last good snapshots of all failed accounts. */
const LOOKUP_MS = 5000

/** Time to send notifications and metrics once the process is asked to stop. */
const SENDING_AFTER_STOP_MS = 2000

interface ReporterOptions {
  readonly env: Environment
  readonly tail: LogTail
  readonly now: () => Date
  /** Wait before a failed notification is sent again. */
  readonly retryBaseMs?: number | undefined
  /** Asks the process to stop. Requests in progress then have two more seconds. */
  readonly signal?: AbortSignal | undefined
  readonly onRun?: (run: RunOutcome) => void
  readonly onFailedNotification?: (kind: string) => void
}

/** Reports runs by log, metrics and notifications. Remembers accounts from run to run. */
export interface Reporter {
  /** Adopts the newest good snapshot of an account from the archive. */
  remember(account: string, good: GoodSnapshot): void
  /** Starts the report of a run over the accounts of `config`. */
  begin(config: Config, options: BeginOptions): RunReport
}

interface BeginOptions {
  readonly run: string
  readonly log: Logger
  /** All configured accounts, also those that the run does not back up. */
  readonly configured: readonly AccountConfig[]
  /** Whether `--account` leaves out some accounts. Pings then report only a failure. */
  readonly isPartial: boolean
}

/** The report of one run. Nothing here throws: a failed report does not fail the run. */
export interface RunReport {
  /** Adds the backup of an account. */
  note(backup: AccountBackup): void
  /** Adds a warning to an account whose backup was added. */
  warn(account: string, warning: string): void
  /** Sends the report. `error` ended the run as a whole. */
  end(ending: RunEnding): Promise<void>
}

interface RunEnding {
  readonly exitCode: number
  readonly error?: Error | undefined
  readonly store?: ObjectStore | undefined
}

/** Creates a reporter. It remembers the results of its runs, so that notifications show changes. */
export function createReporter(options: ReporterOptions): Reporter {
  const histories = new Map<string, AccountHistory>()
  const signal = options.signal && delayAbort(options.signal, SENDING_AFTER_STOP_MS)
  return {
    remember: (account, lastGood) =>
      void histories.set(account, { ...histories.get(account), lastGood }),
    begin: (config, about) => beginReport(config, histories, { ...options, ...about, signal }),
  }
}

/** Results of this run, by account. */
type Results = Map<string, AccountResult>

/** What earlier runs found out, by account. */
type Histories = Map<string, AccountHistory>

function beginReport(
  config: Config,
  histories: Histories,
  options: ReporterOptions & BeginOptions,
): RunReport {
  const { now, run, log } = options
  const startedAt = now()
  const results: Results = new Map()
  const notifier = notifierOf(config, options)
  log.info({ accounts: config.accounts.length }, 'run started')
  void notifier.started()

  return {
    note: (backup) => void results.set(backup.account.name, resultOf(backup)),
    warn(account, warning) {
      const result = results.get(account)
      if (result) results.set(account, { ...result, reasons: [...result.reasons, warning] })
    },
    async end({ exitCode, error, store }) {
      if (error) addFailures(results, config.accounts, error)
      forgetFuture(histories, now())
      if (store && hasReceivers(config, options)) {
        await lookUpLastGood(results, histories, { store, now: now() })
      }
      const outcome: RunOutcome = {
        run,
        startedAt,
        endedAt: now(),
        exitCode,
        accounts: settle(config.accounts, results, { histories, startedAt }),
        error: error && { message: error.message, hint: hintOf(error) },
      }
      logOutcome(log, outcome)
      options.onRun?.(outcome)
      await Promise.all([exportMetrics(config, outcome, options), notifier.ended(outcome)])
    },
  }
}

function notifierOf(config: Config, options: ReporterOptions & BeginOptions) {
  const { env, tail, log, retryBaseMs, signal } = options
  return createNotifier(config.notifications, {
    readAddress: (source) => readSecret(source, env, 'address'),
    logTail: tail.text,
    log,
    findProxy: config.findProxy,
    onFailure: (kind) => options.onFailedNotification?.(kind),
    retryBaseMs,
    signal,
    shard: config.shard,
    accounts: config.accounts.length,
    isPartial: options.isPartial,
  })
}

/** Whether anything other than the log reports the run. */
function hasReceivers({ notifications, metrics }: Config, { onRun }: ReporterOptions): boolean {
  return notifications.length > 0 || Boolean(onRun || metrics.textfile || metrics.pushgateway)
}

/** Adds the error of the whole run to each account that has no result yet. */
function addFailures(results: Results, accounts: readonly AccountConfig[], error: Error): void {
  for (const account of accounts) {
    if (results.has(account.name)) continue
    const { accountId } = account
    results.set(account.name, resultOf({ account, accountId, durationMs: 0, retries: 0, error }))
  }
}

/** Removes snapshots from the future, which a run with a wrong clock left behind. */
function forgetFuture(histories: Histories, now: Date): void {
  for (const [account, { lastGood, badSince }] of histories) {
    if (lastGood && isFromFuture(lastGood, now)) histories.set(account, { badSince })
  }
}

/** Looks up the newest good snapshot of each failed account for which it is not known. */
async function lookUpLastGood(
  results: Results,
  histories: Histories,
  { store, now }: { store: ObjectStore; now: Date },
): Promise<void> {
  const signal = AbortSignal.timeout(LOOKUP_MS)
  const unknown = [...results].filter(
    ([account, { result }]) => result === 'failed' && !histories.get(account)?.lastGood,
  )
  const lookUp = async ([account, { accountId }]: [string, AccountResult]) => {
    if (accountId === undefined) return
    const lastGood = await findLastGood(store, accountId, { now, signal })
    histories.set(account, { ...histories.get(account), lastGood })
  }
  // If the archive does not answer, the snapshots stay unknown. The run has reported the cause.
  await pMap(unknown, lookUp, { concurrency: LOOKUPS_AT_ONCE }).catch(() => {})
}

/** Makes the outcomes of this run, in the order of the configuration, and updates the histories. */
function settle(
  accounts: readonly AccountConfig[],
  results: Results,
  { histories, startedAt }: { histories: Histories; startedAt: Date },
): AccountOutcome[] {
  return accounts.flatMap(({ name }) => {
    const result = results.get(name)
    if (result === undefined) return []
    const outcome = outcomeOf(name, result, { history: histories.get(name), startedAt })
    const { lastGood, badSince } = outcome
    histories.set(name, { lastGood, badSince: outcome.result === 'good' ? undefined : badSince })
    return outcome
  })
}

function logOutcome(log: Logger, { accounts, error, startedAt, endedAt, exitCode }: RunOutcome) {
  const durationMs = endedAt.getTime() - startedAt.getTime()
  const badLevel = error ? 'error' : 'warn'
  const level = exitCode === 0 ? 'info' : badLevel
  const counts = countResults(accounts)
  log[level]({ ...counts, durationMs, exitCode, reason: error?.message }, 'run ended')
}

async function exportMetrics(
  { metrics: { textfile, pushgateway }, findProxy }: Config,
  run: RunOutcome,
  { log, configured, retryBaseMs, signal }: ReporterOptions & BeginOptions,
): Promise<void> {
  if (textfile === undefined && pushgateway === undefined) return
  // Lazy: most runs export no metrics.
  const { pushMetrics, writeTextfile } = await import('./metrics/export.ts')
  const logFailure = (error: Error) =>
    log.error({ reason: error.message, hint: hintOf(error) }, 'metrics not exported')
  if (textfile) {
    const names = new Set(configured.map(({ name }) => name))
    await writeTextfile(textfile, run, names).catch(logFailure)
  }
  if (pushgateway) {
    await pushMetrics(pushgateway, run, { findProxy, retryBaseMs, signal }).catch(logFailure)
  }
}

/** A signal that aborts `delayMs` after `signal`, for the same reason. */
function delayAbort(signal: AbortSignal, delayMs: number): AbortSignal {
  const delayed = new AbortController()
  const arm = () => void setTimeout(() => delayed.abort(signal.reason), delayMs).unref()
  if (signal.aborted) arm()
  else signal.addEventListener('abort', arm, { once: true })
  return delayed.signal
}
