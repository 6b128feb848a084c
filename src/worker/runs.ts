import { warningOfFuture } from '../archive/future.ts'
import { countObjects } from '../archive/manifest.ts'
import type { AccountConfig } from '../config/config.ts'
import { goodSnapshot } from '../run/last-good.ts'
import { findLate } from './find-late.ts'
import { failRun, performRun } from './perform-run.ts'
import { refresh, type Worker } from './state.ts'

/** The runs of a worker, one at a time. */
export interface Runs {
  /** Begins the run that is due, unless another one is at work. */
  begin(due: Date): void
  /** Backs up these accounts at once, unless a run is at work, which has begun since they were late. */
  catchUp(names: ReadonlySet<string>): void
  /** Settles when the run under way has ended; undefined when there is none. */
  underWay(): Promise<void> | undefined
}

/**
 * A run that is due while another is at work is left out. Where that one backs up only some of the
 * accounts, the run waits for its end instead, and then backs up the others.
 */
export function createRuns(worker: Worker): Runs {
  const { log, metrics, signal } = worker
  /** `names` are the accounts that it backs up; all when undefined. */
  let running: { ended: Promise<void>; names: ReadonlySet<string> | undefined } | undefined
  let isWaiting = false

  function start(perform: () => Promise<void>, names?: ReadonlySet<string>): void {
    const ended = perform()
      .catch(({ message, stack }: Error) => log.error({ reason: message, stack }, 'run broke off'))
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
        log.warn({ due }, 'run left out: the one before is still at work')
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

/** The accounts that a run over those named does not back up. */
function accountsBeside(
  { config }: Worker,
  names: ReadonlySet<string> | undefined,
): readonly AccountConfig[] {
  return names === undefined ? [] : config.accounts.filter(({ name }) => !names.has(name))
}

/** A run over all accounts, with the configuration read anew, some time after it was due. */
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
 * Names the accounts without a good snapshot since they were last due, and takes over what the
 * archive says of all.
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
    onFound(account, { accountId, newestSound, suspects, fromFuture }) {
      const warning = warningOfFuture(accountId, fromFuture)
      if (warning !== undefined) log.warn({ account, fromFuture }, warning)
      const lastGood = goodSnapshot(newestSound?.snapshot)
      if (lastGood) reporter.remember(account, lastGood)
      metrics.observeArchive(account, {
        newestGoodAt: lastGood?.takenAt,
        objects: newestSound && countObjects(newestSound),
        suspect: suspects.length > 0,
      })
    },
  })
  if (late.size > 0) log.info({ accounts: late.size, due }, 'catching up')
  return late
}
