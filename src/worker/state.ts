import { isDeepStrictEqual } from 'node:util'
import { createCalendar } from '../config/calendar.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { DashkeepError } from '../errors.ts'
import type { Logger, LogTail } from '../log.ts'
import { createReporter, type Reporter } from '../run/reporter.ts'
import type { Clock } from './clock.ts'
import type { Schedule } from './schedule.ts'
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
  /** Reads the configuration anew. */
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
  schedule: Schedule
  readonly state: WorkerState
}

interface WorkerState {
  /** Whether runs will come. */
  armed: boolean
  /** Why the configuration could not be used when it was last read. */
  problem: string | undefined
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
  const state: WorkerState = { armed: false, problem: undefined }
  const schedule = scheduleOf(loaded.config, options.clock)
  const worker = { ...options, ...loaded, schedule, metrics, reporter, state }
  adopt(worker, loaded)
  return worker
}

/**
 * Reads the configuration and goes by it from now on. Returns whether it is another than before, or
 * can be used again. Throws when it cannot be used; the one before then stays.
 */
export async function refresh(worker: Worker): Promise<boolean> {
  try {
    const loaded = await worker.load()
    const isSame = contentOf(loaded) === contentOf(worker)
    if (isSame && worker.state.problem === undefined) return false
    adopt(worker, loaded)
  } catch (error) {
    refuse(worker, error as Error)
    throw error
  }
  const { config, log } = worker
  log.info({ accounts: config.accounts.length, next: nextRun(worker) }, 'configuration adopted')
  return true
}

/** What a configuration says, to be compared. */
function contentOf({ config, configured }: WorkerConfiguration): string {
  return JSON.stringify([config, configured])
}

function adopt(worker: Worker, { config, configured }: WorkerConfiguration): void {
  const isScheduleSame = isDeepStrictEqual(config.schedule, worker.config.schedule)
  if (!isScheduleSame) worker.schedule = scheduleOf(config, worker.clock)
  worker.config = config
  worker.configured = configured
  worker.state.problem = undefined
  worker.metrics.setConfigGood(true)
  worker.metrics.setAccounts(config.accounts.map(({ name }) => name))
  showNextRun(worker)
}

function refuse({ state, metrics, log }: Worker, { message }: Error): void {
  if (state.problem !== message) log.error({ reason: message }, 'configuration cannot be used')
  state.problem = message
  metrics.setConfigGood(false)
}

function scheduleOf({ schedule }: Config, clock: Clock): Schedule {
  if (schedule !== undefined) return { calendar: createCalendar(schedule), since: clock.now() }
  throw new DashkeepError('Cannot follow a schedule: none is configured', {
    kind: 'usage',
    hint: 'set schedule.cron or DASHKEEP_SCHEDULE, such as "15 3 * * *"',
  })
}

/** When the schedule is due next. */
export function nextRun({ schedule, clock }: Worker): Date | undefined {
  return schedule.calendar.next(clock.now())
}

/** Shows in the metrics when the schedule is due next. */
export function showNextRun(worker: Worker): void {
  const next = nextRun(worker)
  if (next !== undefined) worker.metrics.setNextRun(next)
}
