import { Counter, Gauge, Registry } from 'prom-client'
import { type AccountMetrics, createAccountMetrics } from '../run/metrics/account-metrics.ts'
import { createProcessMetrics, type ProcessMetrics } from '../run/metrics/process-metrics.ts'

/** Metrics of a worker. docs/worker.md describes every name. */
export interface WorkerMetrics extends AccountMetrics, ProcessMetrics {
  readonly contentType: string
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
  setNextRun(time: Date): void
  setRunning(running: boolean): void
  countFailedRun(): void
  countSkippedRun(): void
  countFailedNotification(kind: string): void
}

/** Creates the metrics of a worker, in a registry of their own. */
export function createWorkerMetrics(): WorkerMetrics {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })

  const nextRun = gauge('dashkeep_next_run_timestamp_seconds', 'When the next scheduled run starts')
  const running = gauge('dashkeep_run_in_progress', '1 while a run is in progress, else 0')
  const failedRuns = counter('dashkeep_failed_runs_total', 'Runs that failed as a whole')
  const skippedRuns = counter(
    'dashkeep_skipped_runs_total',
    'Runs skipped because the previous run was still in progress',
  )
  const failedNotifications = counter(
    'dashkeep_failed_notifications_total',
    'Notifications that could not be delivered',
    'kind',
  )

  return {
    ...createAccountMetrics(registry),
    ...createProcessMetrics(registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    setNextRun: (time) => nextRun.set(time.getTime() / 1000),
    setRunning: (now) => running.set(now ? 1 : 0),
    countFailedRun: () => failedRuns.inc(),
    countSkippedRun: () => skippedRuns.inc(),
    countFailedNotification: (kind) => failedNotifications.inc({ kind }),
  }
}
