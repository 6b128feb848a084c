import { type Calendar, createCalendar } from '../config/calendar.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import type { Logger, LogTail } from '../log.ts'
import { createReporter, type Reporter } from '../reporting.ts'
import type { Clock } from './clock.ts'
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
export interface Worker extends WorkerOptions {
  readonly metrics: WorkerMetrics
  readonly reporter: Reporter
  /** The last configuration that could be used, with the accounts of this worker. */
  config: Config
  configured: readonly AccountConfig[]
  calendar: Calendar
  /** Whether runs will come, and whether the configuration could not be used when last read. */
  readonly state: { armed: boolean; configProblem: boolean }
}

/** Reads the configuration. Throws when it cannot be used, or has no schedule. */
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
  const state = { armed: false, configProblem: false }
  const calendar = calendarOf(loaded.config)
  const worker = { ...options, ...loaded, calendar, metrics, reporter, state }
  adopt(worker, loaded)
  return worker
}

/** Goes by another configuration from now on. Throws when it has no schedule. */
export function adopt(worker: Worker, { config, configured }: WorkerConfiguration): void {
  worker.calendar = calendarOf(config)
  worker.config = config
  worker.configured = configured
  worker.state.configProblem = false
  worker.metrics.setConfigGood(true)
  worker.metrics.setAccounts(config.accounts.map(({ name }) => name))
}

function calendarOf({ schedule }: Config): Calendar {
  if (schedule !== undefined) return createCalendar(schedule)
  throw new DashkeepError('Cannot follow a schedule: none is configured', {
    kind: 'usage',
    hint: 'set schedule.cron or DASHKEEP_SCHEDULE, such as "15 3 * * *"',
  })
}

/** Shows when the schedule is due next. */
export function showNextRun({ calendar, clock, metrics }: Worker): Date | undefined {
  const next = calendar.next(clock.now())
  if (next !== undefined) metrics.setNextRun(next)
  return next
}
