import { createRuns, findWhatIsLate, type Runs } from './runs.ts'
import { followSchedule } from './schedule.ts'
import { startServer } from './server.ts'
import {
  createWorker,
  nextRun,
  refresh,
  showNextRun,
  type Worker,
  type WorkerOptions,
} from './state.ts'

/** Time between two looks at the configuration. With the schedule's own nap it stays below a minute. */
const CONFIG_INTERVAL_MS = 30_000

const listenHint = 'set worker.listen or DASHKEEP_LISTEN to another address, or to false'

/**
 * Backs up on a schedule until told to stop. Accounts whose newest good snapshot is older than the
 * last due time are backed up at once. A run that is due while another is at work is left out, as far
 * as both are of the same accounts.
 *
 * A changed configuration is adopted within a minute between runs, and each run reads configuration
 * and secrets anew. One that cannot be used any more makes a run fail, and the schedule goes on as
 * it was. Throws when it cannot be used at the start. Told
 * to stop, it ends the run under way and returns within the grace period.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = await createWorker(options)
  const { clock, signal, log, state } = worker
  const { listen } = worker.config.worker
  await using server = listen ? await startServer(listen, exhibitOf(worker), listenHint) : undefined
  log.info({ url: server?.url }, 'worker started')

  const runs = createRuns(worker)
  const late = await findWhatIsLate(worker)
  state.armed = true
  log.info({ next: nextRun(worker) }, 'schedule armed')
  runs.catchUp(late)
  const onDue = (due: Date) => {
    showNextRun(worker)
    runs.begin(due)
  }
  await Promise.all([
    followSchedule(() => worker.schedule, { clock, signal, onDue }),
    followConfiguration(worker, runs),
  ])
  state.armed = false
  await finish(worker, runs.underWay())
}

function exhibitOf({ metrics, state, signal }: Worker) {
  const unready = () =>
    [
      signal.aborted && 'stopping',
      !state.armed && !signal.aborted && 'no schedule is armed yet',
      state.problem !== undefined && 'the configuration cannot be used',
    ].filter((reason) => reason !== false)
  return { metrics, unready }
}

/**
 * Looks at the configuration every 30 seconds between runs. One that has changed or can be used
 * again counts like a start: accounts that are late by it are backed up at once.
 */
async function followConfiguration(worker: Worker, runs: Runs): Promise<void> {
  const { clock, signal } = worker
  while (!signal.aborted) {
    await clock.sleep(CONFIG_INTERVAL_MS, signal)
    if (signal.aborted || runs.underWay() !== undefined) continue
    // What is wrong with it has been logged.
    const isAdopted = await refresh(worker).catch(() => false)
    if (isAdopted) runs.catchUp(await findWhatIsLate(worker))
  }
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
