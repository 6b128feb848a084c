import { createRuns, findWhatIsLate } from './runs.ts'
import { followSchedule } from './schedule.ts'
import { startServer } from './server.ts'
import { createWorker, showNextRun, type Worker, type WorkerOptions } from './state.ts'

/**
 * Backs up on a schedule until told to stop. Accounts whose newest good snapshot is older than the
 * last due time are backed up at once. A run that is due while another is at work is left out, as far
 * as both are of the same accounts.
 *
 * Each run reads configuration and secrets anew; a configuration that cannot be used any more is a
 * failed run, and the schedule goes on as it was. Throws when it cannot be used at the start. Told
 * to stop, it ends the run under way and returns within the grace period.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const worker = await createWorker(options)
  const { clock, signal, log, state } = worker
  const { listen } = worker.config.worker
  await using server = listen ? await startServer(listen, exhibitOf(worker)) : undefined
  log.info({ url: server?.url }, 'worker begins')

  const begun = clock.now()
  const runs = createRuns(worker)
  const late = await findWhatIsLate(worker)
  state.armed = true
  log.info({ next: showNextRun(worker) }, 'schedule armed')
  runs.catchUp(late)
  await followSchedule(() => worker.calendar, {
    clock,
    signal,
    since: begun,
    onDue(due) {
      showNextRun(worker)
      runs.begin(due)
    },
  })
  state.armed = false
  await finish(worker, runs.underWay())
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
