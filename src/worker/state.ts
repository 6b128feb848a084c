import { isDeepStrictEqual } from 'node:util'
import { createCalendar } from '../config/calendar.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import type { Logger, LogTail } from '../log.ts'
import { createReporter, type Reporter } from '../run/reporter.ts'
import type { Clock } from './clock.ts'
import { type ConfigState, createConfigState } from './config-state.ts'
import type { Schedule } from './schedule.ts'
import { createWorkerMetrics, type WorkerMetrics } from './worker-metrics.ts'

/** Result of the backup of one account, as far as the exit code depends on it. */
export interface AccountEnding {
  readonly error: Error | undefined
  /** Whether there is a snapshot that is suspect or has warnings. */
  readonly doubtful: boolean
  /** The account's id; undefined without a snapshot. */
  readonly accountId: number | undefined
}

/** The configuration, with the accounts that the worker backs up. */
interface WorkerConfiguration {
  readonly config: Config
  /** All configured accounts, also those of other workers. */
  readonly configured: readonly AccountConfig[]
  /** Whether `--account` leaves out accounts. */
  readonly isPartial: boolean
}

/** What a worker needs from its command. */
export interface WorkerOptions {
  /** Reads the configuration again. */
  readonly load: () => Promise<WorkerConfiguration>
  readonly env: Environment
  readonly log: Logger
  readonly tail: LogTail
  readonly clock: Clock
  /** Asks the worker to stop. */
  readonly signal: AbortSignal
  /** Returns a random number from 0 to below 1, for the jitter. `Math.random` by default. */
  readonly random?: () => number
  /** Wait before a failed notification is sent again. */
  readonly retryBaseMs?: number | undefined
}

/** A worker and its state between runs. */
export interface Worker extends WorkerOptions {
  readonly metrics: WorkerMetrics
  readonly reporter: Reporter
  /** The last valid configuration, with the accounts of this worker. */
  config: Config
  configured: readonly AccountConfig[]
  isPartial: boolean
  schedule: Schedule
  /** Whether the schedule is followed. */
  isArmed: boolean
  readonly configState: ConfigState
}

/** Creates a worker. Throws when the configuration is invalid or has no schedule. */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
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
  const schedule = scheduleOf(loaded.config, options.clock)
  const configState = createConfigState(metrics, options.log)
  const kept = { schedule, metrics, reporter, configState, isArmed: false }
  const worker = { ...options, ...loaded, ...kept }
  adopt(worker, loaded)
  return worker
}

/**
 * Reads the configuration again and adopts it. Returns whether it has changed or is valid again.
 * Throws when it is invalid; the previous one then stays in use.
 */
export async function refresh(worker: Worker): Promise<boolean> {
  try {
    const loaded = await worker.load()
    const isSame = contentOf(loaded) === contentOf(worker)
    if (isSame && worker.configState.problem === undefined) return false
    adopt(worker, loaded)
  } catch (error) {
    worker.configState.refuse(error as Error)
    throw error
  }
  const { config, log } = worker
  log.info({ accounts: config.accounts.length, next: nextRun(worker) }, 'configuration adopted')
  return true
}

/** The content of a configuration, for comparison. */
function contentOf({ config, configured, isPartial }: WorkerConfiguration): string {
  return JSON.stringify([config, configured, isPartial])
}

function adopt(worker: Worker, { config, configured, isPartial }: WorkerConfiguration): void {
  const isScheduleSame = isDeepStrictEqual(config.schedule, worker.config.schedule)
  if (!isScheduleSame) worker.schedule = scheduleOf(config, worker.clock)
  worker.config = config
  worker.configured = configured
  worker.isPartial = isPartial
  worker.configState.accept()
  worker.metrics.setAccounts(config.accounts.map(({ name }) => name))
  showNextRun(worker)
}

function scheduleOf({ schedule }: Config, clock: Clock): Schedule {
  if (schedule !== undefined) return { calendar: createCalendar(schedule), since: clock.now() }
  throw new DashkeepError('Cannot follow a schedule: none is configured', {
    kind: 'usage',
    hint: 'set schedule.cron or DASHKEEP_SCHEDULE, such as "15 3 * * *"',
  })
}

/** The time of the next scheduled run. */
export function nextRun({ schedule, clock }: Worker): Date | undefined {
  return schedule.calendar.next(clock.now())
}

/** Sets the metric of the next scheduled run. */
export function showNextRun(worker: Worker): void {
  const next = nextRun(worker)
  if (next !== undefined) worker.metrics.setNextRun(next)
}
