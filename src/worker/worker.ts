import { type AccountBackup, backupAccounts, openArchive } from '../app.ts'
import { type Calendar, createCalendar } from '../config/calendar.ts'
import type { AccountConfig, Config, Environment, ScheduleConfig } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import { createRunId, type Logger, type LogTail } from '../log.ts'
import { createReporter, goodSnapshot, type Reporter, type RunReport } from '../reporting.ts'
import { warningOfFuture } from '../snapshot/future.ts'
import { isDoubtful } from '../snapshot/take.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { Clock } from './clock.ts'
import { findLate } from './find-late.ts'
import { pruneAccount, sweepLeftWrites } from './prune-after.ts'
import { followSchedule } from './schedule.ts'
import { startServer } from './server.ts'
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts'

/** How the backup of one account ended, as far as the exit code depends on it. */
export interface AccountEnding {
  readonly error: Error | undefined
  /** Whether there is a snapshot, but something to look at. */
  readonly doubtful: boolean
  /** The account's id, when there is a snapshot. */
  readonly accountId: number | undefined
}

/** The configuration with the accounts that the worker backs up. */
export interface WorkerConfiguration {
  readonly config: Config
  /** Every account that is configured, also those of other workers. */
  readonly configured: readonly AccountConfig[]
}

export interface WorkerOptions {
  /** Reads the configuration anew, for each run. */
  readonly load: () => Promise<WorkerConfiguration>
  readonly env: Environment
  readonly log: Logger
  readonly tail: LogTail
  readonly clock: Clock
  /** Asks the worker to stop. */
  readonly signal: AbortSignal
  readonly exitCodes: {
    ofRun(endings: readonly AccountEnding[]): number
    ofError(error: unknown): number
  }
  /** Chance, from 0 to below 1. */
  readonly random?: () => number
  /** Wait before a notification is sent again. */
  readonly retryBaseMs?: number | undefined
}

/** What a worker knows from run to run. */
interface Worker extends WorkerOptions {
  readonly metrics: WorkerMetrics
  readonly reporter: Reporter
  /** The last configuration that could be used, with the accounts of this worker. */
  config: Config
  configured: readonly AccountConfig[]
  calendar: Calendar
  /** Whether runs will come, and whether the configuration could not be used when last read. */
  readonly state: { armed: boolean; configProblem: boolean }
}

/**
 * Backs up on a schedule until told to stop. Accounts whose newest good snapshot is older than the
 * last due time are backed up at once. A run that is due while another is at work is left out.
 *
 * Each run reads configuration and secrets anew; a configuration that cannot be used any more is a
 * failed run, and the schedule goes on as it was. Throws when it cannot be used at the start. Told
 * to stop, it ends the run under way and returns within the grace period.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = await createWorker(options)
  const { clock, signal, log, metrics, state } = worker
  const { listen } = worker.config.worker
  await using server = listen ? await startServer(listen, exhibitOf(worker)) : undefined
  log.info({ url: server?.url }, 'worker begins')

  const begun = clock.now()
  let running: Promise<void> | undefined
  const begin = (names?: ReadonlySet<string>) => {
    metrics.setRunning(true)
    running = performRun(worker, names)
      .catch(({ message, stack }: Error) => log.error({ reason: message, stack }, 'run broke off'))
      .finally(() => {
        metrics.setRunning(false)
        running = undefined
      })
  }
  const late = await findWhatIsLate(worker, begun)
  if (late.size > 0 && !signal.aborted) begin(late)
  state.armed = true
  log.info({ next: showNextRun(worker) }, 'schedule armed')
  await followSchedule(() => worker.calendar, {
    clock,
    signal,
    since: begun,
    onDue(due) {
      showNextRun(worker)
      if (running === undefined) return begin()
      metrics.countSkippedRun()
      log.warn({ due }, 'run left out: the one before is still at work')
    },
  })
  state.armed = false
  await finish(worker, running)
}

async function createWorker(options: WorkerOptions): Promise<Worker> {
  const loaded = await options.load()
  const metrics = createWorkerMetrics()
  const { env, tail, retryBaseMs, signal } = options
  const reporter = createReporter({
    env,
    tail,
    signal,
    retryBaseMs,
    now: options.clock.now,
    onRun(run) {
      metrics.observe(run)
      if (run.error !== undefined) metrics.countFailedRun()
    },
    onFailedNotification: metrics.countFailedNotification,
  })
  const state = { armed: false, configProblem: false }
  const calendar = calendarOf(loaded.config)
  const worker = { ...options, ...loaded, calendar, metrics, reporter, state }
  adopt(worker, loaded)
  return worker
}

function calendarOf({ schedule }: Config): Calendar {
  if (schedule !== undefined) return createCalendar(schedule)
  throw new DashkeepError('Cannot follow a schedule: none is configured', {
    kind: 'usage',
    hint: 'set schedule.cron or DASHKEEP_SCHEDULE, such as "15 3 * * *"',
  })
}

function adopt(worker: Worker, { config, configured }: WorkerConfiguration): void {
  worker.calendar = calendarOf(config)
  worker.config = config
  worker.configured = configured
  worker.state.configProblem = false
  worker.metrics.setConfigGood(true)
  worker.metrics.setAccounts(config.accounts.map(({ name }) => name))
}

function exhibitOf({ metrics, state, signal }: Worker) {
  const unready = () =>
    [
      signal.aborted && 'stopping',
      !state.armed && !signal.aborted && 'no schedule is armed yet',
      state.configProblem && 'the configuration cannot be used',
    ].filter((reason) => reason !== false)
  return { metrics, unready }
}

/** Shows when the schedule is due next. */
function showNextRun({ calendar, clock, metrics }: Worker): Date | undefined {
  const next = calendar.next(clock.now())
  if (next !== undefined) metrics.setNextRun(next)
  return next
}

/** Names the accounts to back up at once, and takes over what the archive says of all. */
async function findWhatIsLate(worker: Worker, now: Date): Promise<Set<string>> {
  const { config, calendar, env, log, metrics, reporter, signal } = worker
  const due = calendar.previous(now) ?? now
  const late = await findLate(config, {
    due,
    now,
    env,
    log,
    signal,
    onFound(account, { accountId, newestGood, newestGoodAt, suspects, fromFuture }) {
      const warning = warningOfFuture(accountId, fromFuture)
      if (warning !== undefined) log.warn({ account, fromFuture }, warning)
      const lastGood = goodSnapshot(newestGood?.snapshot)
      if (lastGood) reporter.remember(account, lastGood)
      metrics.observeArchive(account, { newestGood, newestGoodAt, suspect: suspects.length > 0 })
    },
  })
  if (late.size > 0) log.info({ accounts: late.size, due }, 'catching up')
  return late
}

/** One run, over all accounts or those named. Never throws; what goes wrong is told. */
async function performRun(worker: Worker, names?: ReadonlySet<string>): Promise<void> {
  const { clock, signal, tail, metrics, reporter, random = Math.random } = worker
  await clock.sleep(random() * (worker.config.schedule?.jitterMs ?? 0), signal)
  if (signal.aborted) return
  const run = createRunId()
  const log = worker.log.child({ run })
  tail.clear()
  try {
    adopt(worker, await worker.load())
    showNextRun(worker)
  } catch (error) {
    worker.state.configProblem = true
    metrics.setConfigGood(false)
    const { config, configured } = worker
    const report = reporter.begin(config, { run, log, configured })
    const exitCode = worker.exitCodes.ofError(error)
    return report.end({ exitCode, error: error as Error })
  }
  const { configured } = worker
  const { accounts } = worker.config
  const chosen = names ? accounts.filter(({ name }) => names.has(name)) : accounts
  const config = { ...worker.config, accounts: chosen }
  await backUp(worker, config, { report: reporter.begin(config, { run, log, configured }), log })
}

async function backUp(
  worker: Worker,
  config: Config,
  { report, log }: { report: RunReport; log: Logger },
): Promise<void> {
  const { clock, env, exitCodes, configured } = worker
  const endings = new Map<string, AccountEnding>()
  using deadline = startDeadline(clock, config.schedule)
  const signal = AbortSignal.any([worker.signal, deadline.signal])
  const onDone = (backup: AccountBackup) => {
    const { account, taken, error } = backup
    report.note(backup)
    const doubtful = taken !== undefined && isDoubtful(taken)
    endings.set(account.name, { error, doubtful, accountId: taken?.manifest.account.id })
  }
  let store: ObjectStore | undefined
  let failure: Error | undefined
  try {
    store = await openArchive(config)
    await backupAccounts(config, store, { env, log, now: clock.now, configured, signal, onDone })
    await pruneGood(config, store, endings, { report, log, now: clock.now(), signal })
  } catch (error) {
    failure = error as Error
  }
  // Told to stop: whatever takes over finds the accounts late, and backs them up.
  if (failure !== undefined && worker.signal.aborted) log.warn('run interrupted')
  else {
    const exitCode =
      endings.size > 0 ? exitCodes.ofRun([...endings.values()]) : exitCodes.ofError(failure)
    await report.end({ exitCode, error: failure, store })
  }
  await store?.close()
}

/** Prunes the accounts whose run left nothing to look at; what goes wrong is something to look at. */
async function pruneGood(
  { schedule, retention }: Config,
  store: ObjectStore,
  endings: Map<string, AccountEnding>,
  options: { report: RunReport; log: Logger; now: Date; signal: AbortSignal },
): Promise<void> {
  if (!schedule?.pruneAfter || retention === undefined) return
  for (const [account, ending] of endings) {
    if (ending.doubtful || ending.accountId === undefined) continue
    const log = options.log.child({ account })
    const problems = await pruneAccount(store, ending.accountId, retention, { ...options, log })
    options.signal.throwIfAborted()
    if (problems.length > 0) endings.set(account, { ...ending, doubtful: true })
    for (const problem of problems) options.report.warn(account, problem)
  }
  await sweepLeftWrites(store, options)
}

/** Aborts its signal when a run has taken too long. Disposing stops the watch. */
function startDeadline(clock: Clock, schedule: ScheduleConfig | undefined) {
  const passed = new AbortController()
  const over = new AbortController()
  const ms = schedule?.deadlineMs ?? 0
  void clock.sleep(ms, over.signal).then(() => {
    if (over.signal.aborted) return
    const message = `Cannot finish the run: it takes longer than ${ms / 1000} s`
    const hint = 'raise schedule.deadline, or look what takes so long'
    passed.abort(new DashkeepError(message, { hint }))
  })
  return { signal: passed.signal, [Symbol.dispose]: () => over.abort() }
}

/** Waits for the run under way, which has been told to end, as long as the grace period. */
async function finish({ clock, config, log }: Worker, running: Promise<void> | undefined) {
  log.info('stopping')
  const over = new AbortController()
  const grace = clock.sleep(config.worker.graceMs, over.signal).then(() => 'too long')
  const ending = await Promise.race([grace, running])
  over.abort()
  if (ending === 'too long') log.error('the run under way did not end within the grace period')
  log.info('stopped')
}
