import { warningOfFuture } from '../archive/future.ts'
import type { AccountConfig } from '../config/config.ts'
import { goodSnapshot } from '../run/last-good.ts'
import { archivedAccountOf } from '../run/metrics/archive-gauges.ts'
import { findLate } from './find-late.ts'
import { failRun, performRun } from './perform-run.ts'
import { refresh, type Worker } from './state.ts'

/** Runs of a worker, one at a time. */
export interface Runs {
  /** Starts the run that is due, or skips or delays it when another run is in progress. */
  begin(due: Date): void
  /** Backs up these accounts at once, unless a run is in progress. */
  catchUp(names: ReadonlySet<string>): void
  /** Resolves when the run in progress has ended; undefined when there is none. */
  underWay(): Promise<void> | undefined
}

/**
 * Creates the runs of a worker. A run that is due while another is in progress is skipped. If the run
 * in progress backs up only some accounts, the other accounts are backed up after it.
 */
export function createRuns(worker: Worker): Runs {
  const { log, metrics, signal } = worker
  /** `names` are the accounts that it backs up; all accounts when undefined. */
  let running: { ended: Promise<void>; names: ReadonlySet<string> | undefined } | undefined
  let isWaiting = false

  function start(perform: () => Promise<void>, names?: ReadonlySet<string>): void {
    const ended = perform()
      .catch(({ message, stack }: Error) =>
        log.error({ reason: message, stack }, 'run failed unexpectedly'),
      )
      .finally(() => {
        running = undefined
        if (isWaiting && !signal.aborted) startOthers(names)
      })
    running = { ended, names }
  }

  function startOthers(names: ReadonlySet<string> | undefined): void {
    isWaiting = false
    const others = accountsBeside(worker, names)
    start(() => performRun(worker, others), new Set(others.map(({ name }) => name)))
  }

  return {
    begin(due) {
      if (running === undefined) return start(() => performScheduledRun(worker))
      const { length } = accountsBeside(worker, running.names)
      if (length === 0 || isWaiting) {
        metrics.countSkippedRun()
        log.warn({ due }, 'run skipped: the previous run is still in progress')
      } else {
        isWaiting = true
        log.info({ due, accounts: length }, 'run waits for the catch-up')
      }
    },
    catchUp(names) {
      if (names.size === 0 || running !== undefined || signal.aborted) return
      const accounts = worker.config.accounts.filter(({ name }) => names.has(name))
      start(() => performRun(worker, accounts), names)
    },
    underWay: () => running?.ended,
  }
}

/** The accounts other than those named; none when all are meant. */
function accountsBeside(
  { config }: Worker,
  names: ReadonlySet<string> | undefined,
): readonly AccountConfig[] {
  return names === undefined ? [] : config.accounts.filter(({ name }) => !names.has(name))
}

/** Waits for the jitter, reads the configuration again, and backs up all accounts. */
async function performScheduledRun(worker: Worker): Promise<void> {
  const { clock, signal, random = Math.random } = worker
  await clock.sleep(random() * (worker.config.schedule?.jitterMs ?? 0), signal)
  if (signal.aborted) return
  try {
    await refresh(worker)
  } catch (error) {
    return failRun(worker, error as Error)
  }
  await performRun(worker, worker.config.accounts)
}

/**
 * Returns the names of the accounts without a good snapshot since they were last due. Updates the
 * metrics and the reporter from the archive.
 */
export async function findWhatIsLate(worker: Worker): Promise<ReadonlySet<string>> {
  const { config, schedule, clock, env, log, metrics, reporter, signal } = worker
  const now = clock.now()
  const due = schedule.calendar.previous(now) ?? now
  const late = await findLate(config, {
    due,
    now,
    env,
    log,
    signal,
    onFound(account, status) {
      const { accountId, newestSound, fromFuture } = status
      const warning = warningOfFuture(accountId, fromFuture)
      if (warning !== undefined) log.warn({ account, fromFuture }, warning)
      const lastGood = goodSnapshot(newestSound?.snapshot)
      if (lastGood) reporter.remember(account, lastGood)
      metrics.observeArchive(account, archivedAccountOf(status))
    },
  })
  if (late.size > 0) log.info({ accounts: late.size, due }, 'catching up')
  return late
}
