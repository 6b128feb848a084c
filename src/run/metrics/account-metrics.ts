import { Counter, Gauge, type Registry } from 'prom-client'
import { isFromFuture } from '../../archive/future.ts'
import { type AccountOutcome, isClean, type RunOutcome } from '../outcome.ts'
import { type ArchivedAccount, createArchiveGauges, lastSuccessName } from './archive-gauges.ts'

/** Metrics of each account. docs/worker.md describes every name. */
export interface AccountMetrics {
  /** Counts a run and sets the gauges of its accounts. */
  observe(run: RunOutcome): void
  /** Sets the gauges of an account that this process has not backed up yet, from the archive. */
  observeArchive(account: string, found: ArchivedAccount): void
  /** Adopts a sample that another process wrote. Ignores unknown metrics. */
  takeOver(sample: AccountSample): void
  /** Removes accounts that are no longer configured, and initializes the counters of the others. */
  setAccounts(accounts: readonly string[]): void
}

/** One line of the text format of Prometheus. */
export interface AccountSample {
  readonly name: string
  readonly labels: { readonly account: string; readonly result?: string | undefined }
  readonly value: number
}

const results = ['good', 'suspect', 'failed'] as const

/** Registers the metrics of accounts. */
export function createAccountMetrics(registry: Registry): AccountMetrics {
  const archived = createArchiveGauges(registry)
  const { suspect, objects } = archived
  const success = createSuccessGauge(archived.lastSuccess)
  const { lastRun, lastRunGood, duration, runs, stored, retries } = registerRunMetrics(registry)
  const known = new Set<string>()

  /** Starts the counters at 0: `increase()` does not see the first value of a new counter. */
  function initialize(account: string): void {
    if (known.has(account)) return
    known.add(account)
    for (const result of results) runs.inc({ account, result }, 0)
    for (const metric of [stored, retries]) metric.inc({ account }, 0)
  }

  function remove(account: string): void {
    known.delete(account)
    success.remove(account)
    for (const result of results) runs.remove({ account, result })
    for (const metric of [lastRun, lastRunGood, suspect, objects, duration, stored, retries]) {
      metric.remove({ account })
    }
  }

  function observeAccount(outcome: AccountOutcome, endedAt: Date): void {
    const { account, result, taken, lastGood } = outcome
    initialize(account)
    runs.inc({ account, result })
    retries.inc({ account }, outcome.retries)
    stored.inc({ account }, taken?.storedBytes ?? 0)
    lastRun.set({ account }, seconds(endedAt))
    lastRunGood.set({ account }, isClean(outcome) ? 1 : 0)
    duration.set({ account }, outcome.durationMs / 1000)
    if (lastGood) success.set(account, lastGood.takenAt)
    else success.removeFuture(account, endedAt)
    if (taken === undefined) return
    suspect.set({ account }, result === 'suspect' ? 1 : 0)
    objects.set({ account }, taken.objects)
  }

  return {
    observe({ accounts, endedAt }) {
      for (const outcome of accounts) observeAccount(outcome, endedAt)
    },
    observeArchive(account, found) {
      archived.observe(account, found)
      if (found.newestGoodAt !== undefined) success.set(account, found.newestGoodAt)
    },
    takeOver({ name, labels, value }) {
      if (name === lastSuccessName) return success.set(labels.account, new Date(value * 1000))
      const metric = registry.getSingleMetric(name)
      if (metric instanceof Gauge) metric.set(labels, value)
      if (metric instanceof Counter) metric.inc(labels, value)
    },
    setAccounts(accounts) {
      const configured = new Set(accounts)
      for (const account of known) if (!configured.has(account)) remove(account)
      for (const account of accounts) initialize(account)
    },
  }
}

/** Registers the metrics that describe runs, not the archive. */
function registerRunMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['account'], registers })
  const counter = (name: string, help: string, ...more: string[]) =>
    new Counter({ name, help, labelNames: ['account', ...more], registers })
  return {
    lastRun: gauge('dashkeep_last_run_timestamp_seconds', 'When the last run ended'),
    lastRunGood: gauge(
      'dashkeep_last_run_success',
      '1 when the last run was good and without warnings, else 0',
    ),
    duration: gauge('dashkeep_run_duration_seconds', 'How long the last run took'),
    runs: counter('dashkeep_runs_total', 'Runs by result', 'result'),
    stored: counter('dashkeep_stored_bytes_total', 'Bytes added to the archive'),
    retries: counter('dashkeep_retries_total', 'Repeated requests and restarted exports'),
  }
}

/** The gauge of the last success, with the value of each account. */
function createSuccessGauge(gauge: Gauge) {
  const values = new Map<string, Date>()
  return {
    set(account: string, takenAt: Date): void {
      values.set(account, takenAt)
      gauge.set({ account }, seconds(takenAt))
    },
    remove(account: string): void {
      values.delete(account)
      gauge.remove({ account })
    },
    /** Removes a value from the future, left by a run with a wrong clock: a missing one alerts. */
    removeFuture(account: string, now: Date): void {
      const takenAt = values.get(account)
      if (takenAt !== undefined && isFromFuture({ takenAt }, now)) this.remove(account)
    },
  }
}

function seconds(time: Date): number {
  return time.getTime() / 1000
}
