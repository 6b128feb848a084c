import { Counter, Gauge, type Registry } from 'prom-client'
import { isFromFuture } from '../../archive/future.ts'
import { type AccountOutcome, isClean, type RunOutcome } from '../outcome.ts'
import { type ArchivedAccount, createArchiveGauges, lastSuccessName } from './archive-gauges.ts'

/** What is told of each account; every name is described in the documentation. */
export interface AccountMetrics {
  /** Counts a run and takes over what it found out. */
  observe(run: RunOutcome): void
  /** Takes over what the archive holds of an account that this process has not backed up yet. */
  observeArchive(account: string, found: ArchivedAccount): void
  /** Takes over what another process has written of an account. Ignores unknown metrics. */
  takeOver(sample: AccountSample): void
  /** Drops accounts that the configuration no longer names, and begins to count the others. */
  setAccounts(accounts: readonly string[]): void
}

/** One line of the text format of Prometheus. */
export interface AccountSample {
  readonly name: string
  readonly labels: { readonly account: string; readonly result?: string | undefined }
  readonly value: number
}

const results = ['good', 'suspect', 'failed'] as const

export function createAccountMetrics(registry: Registry): AccountMetrics {
  const registers = [registry]
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['account'], registers })
  const counter = (name: string, help: string, ...more: string[]) =>
    new Counter({ name, help, labelNames: ['account', ...more], registers })

  const archived = createArchiveGauges(registry)
  const { lastSuccess, suspect, objects } = archived
  const lastRun = gauge('dashkeep_last_run_timestamp_seconds', 'When the last run ended')
  const lastRunGood = gauge(
    'dashkeep_last_run_success',
    '1 when the last run left nothing to look at, else 0',
  )
  const duration = gauge('dashkeep_run_duration_seconds', 'How long the last run took')
  const runs = counter('dashkeep_runs_total', 'Runs by how they ended', 'result')
  const stored = counter('dashkeep_stored_bytes_total', 'Bytes added to the archive')
  const retries = counter('dashkeep_retries_total', 'Requests repeated and exports begun again')

  const known = new Set<string>()
  /** By account: the last success shown. */
  const successes = new Map<string, Date>()

  function showSuccess(account: string, takenAt: Date): void {
    successes.set(account, takenAt)
    lastSuccess.set({ account }, seconds(takenAt))
  }

  /** Withdraws a success that a run with a wrong clock claimed: a missing one raises an alarm. */
  function withdrawFuture(account: string, now: Date): void {
    const takenAt = successes.get(account)
    if (takenAt === undefined || !isFromFuture({ takenAt }, now)) return
    successes.delete(account)
    lastSuccess.remove({ account })
  }

  /** A counter that appears with its first count hides that count from `increase()`. */
  function begin(account: string): void {
    if (known.has(account)) return
    known.add(account)
    for (const result of results) runs.inc({ account, result }, 0)
    for (const metric of [stored, retries]) metric.inc({ account }, 0)
  }

  function drop(account: string): void {
    known.delete(account)
    successes.delete(account)
    for (const result of results) runs.remove({ account, result })
    for (const metric of [lastSuccess, lastRun, lastRunGood, suspect, objects, duration]) {
      metric.remove({ account })
    }
    for (const metric of [stored, retries]) metric.remove({ account })
  }

  function observeAccount(outcome: AccountOutcome, endedAt: Date): void {
    const { account, result, taken, lastGood } = outcome
    begin(account)
    runs.inc({ account, result })
    retries.inc({ account }, outcome.retries)
    stored.inc({ account }, taken?.storedBytes ?? 0)
    lastRun.set({ account }, seconds(endedAt))
    lastRunGood.set({ account }, isClean(outcome) ? 1 : 0)
    duration.set({ account }, outcome.durationMs / 1000)
    if (lastGood) showSuccess(account, lastGood.takenAt)
    else withdrawFuture(account, endedAt)
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
      if (found.newestGoodAt !== undefined) successes.set(account, found.newestGoodAt)
    },
    takeOver({ name, labels, value }) {
      if (name === lastSuccessName) return showSuccess(labels.account, new Date(value * 1000))
      const metric = registry.getSingleMetric(name)
      if (metric instanceof Gauge) metric.set(labels, value)
      if (metric instanceof Counter) metric.inc(labels, value)
    },
    setAccounts(accounts) {
      const named = new Set(accounts)
      for (const account of known) if (!named.has(account)) drop(account)
      for (const account of accounts) begin(account)
    },
  }
}

function seconds(time: Date): number {
  return time.getTime() / 1000
}
