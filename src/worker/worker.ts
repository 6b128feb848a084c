import { CONFIG_INTERVAL_MS } from './config-state.ts'
import { createRuns, findWhatIsLate, type Runs } from './runs.ts'
import { followSchedule } from './schedule.ts'
import { type HealthView, startServer } from './server.ts'
import {
  createWorker,
  nextRun,
  refresh,
  showNextRun,
  type Worker,
  type WorkerOptions,
} from './state.ts'

const listenHint = 'set worker.listen or DASHKEEP_LISTEN to another address, or to false'

/**
 * Backs up on a schedule until aborted. Accounts whose newest good snapshot is older than the last
 * due time are backed up at once. A run that is due while another run of the same accounts is in
 * progress is skipped.
 *
 * Each run reads the configuration and the secrets again. Between runs, a changed configuration is
 * adopted within a minute. An invalid configuration fails the run, and the schedule continues.
 * Throws when the configuration is invalid at the start. When aborted, ends the run in progress and
 * returns within the grace period.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = await createWorker(options)
  const { clock, signal, log } = worker
  const { listen } = worker.config.worker
  await using server = listen
    ? await startServer(listen, healthViewOf(worker), listenHint)
    : undefined
  log.info({ url: server?.url }, 'worker started')

  const runs = createRuns(worker)
  const late = await findWhatIsLate(worker)
  worker.isArmed = true
  log.info({ next: nextRun(worker) }, 'schedule started')
  runs.catchUp(late)
  const onDue = (due: Date) => {
    showNextRun(worker)
    runs.begin(due)
  }
  await Promise.all([
    followSchedule(() => worker.schedule, { clock, signal, onDue }),
    followConfiguration(worker, runs),
  ])
  worker.isArmed = false
  await finish(worker, runs.underWay())
}

function healthViewOf(worker: Worker): HealthView {
  const { metrics, configState, signal } = worker
  const unready = () =>
    [
      signal.aborted && 'stopping',
      !worker.isArmed && !signal.aborted && 'the schedule has not started yet',
      configState.problem !== undefined && 'the configuration is invalid',
    ].filter((reason) => reason !== false)
  return { metrics, unready }
}

/**
 * Reads the configuration every 30 seconds between runs. When it has changed or is valid again,
 * backs up the accounts that are late.
 */
async function followConfiguration(worker: Worker, runs: Runs): Promise<void> {
  const { clock, signal } = worker
  while (!signal.aborted) {
    await clock.sleep(CONFIG_INTERVAL_MS, signal)
    if (signal.aborted || runs.underWay() !== undefined) continue
    // `refresh` has logged the failure.
    const isAdopted = await refresh(worker).catch(() => false)
    if (isAdopted) runs.catchUp(await findWhatIsLate(worker))
  }
}

/** Waits for the end of the aborted run in progress, at most for the grace period. */
async function finish({ clock, config, log }: Worker, running: Promise<void> | undefined) {
  log.info('stopping')
  const over = new AbortController()
  const grace = clock.sleep(config.worker.graceMs, over.signal).then(() => 'too long')
  const ending = await Promise.race([grace, running])
  over.abort()
  if (ending === 'too long') log.error('the run in progress did not end within the grace period')
  log.info('stopped')
}
