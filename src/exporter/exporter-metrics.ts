import { Gauge, Registry } from 'prom-client'
import type { ProofJudgement } from '../proofs/judge.ts'
import { proofKinds } from '../proofs/proof.ts'
import type { CopyStatus } from '../run/copy-status.ts'
import { createArchiveGauges } from '../run/metrics/archive-gauges.ts'
import { createProcessMetrics, type ProcessMetrics } from '../run/metrics/process-metrics.ts'
import type { JudgedAccount } from './judge-archive.ts'

/** Metrics of the exporter. docs/monitoring.md describes every name. */
export interface ExporterMetrics extends ProcessMetrics {
  readonly contentType: string
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
  /** Replaces the metrics of all accounts. */
  setArchive(
    accounts: ReadonlyMap<string, JudgedAccount>,
    read: { readAt: Date; durationMs: number },
  ): void
  /** Replaces the metrics of all copies. */
  setCopies(copies: readonly CopyStatus[]): void
  /** Keeps the metrics of accounts, and marks the archive as not readable. */
  setUnreadable(): void
}

/** Creates the metrics of an exporter, in a registry of their own. */
export function createExporterMetrics(): ExporterMetrics {
  const registry = new Registry()
  /** New for each read of the archive, so that removed accounts disappear. */
  let accountRegistry = new Registry()
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })

  const readable = gauge(
    'dashkeep_archive_readable',
    '1 when the last read of the archive succeeded, else 0',
  )
  const readAt = gauge(
    'dashkeep_archive_read_timestamp_seconds',
    'When the archive was last read. The metrics of all accounts are from then',
  )
  const duration = gauge(
    'dashkeep_archive_read_duration_seconds',
    'How long the archive took to read',
  )
  const copyReadable = gauge(
    'dashkeep_copy_readable',
    '1 when the last read of the copy succeeded, else 0',
    'copy',
  )
  const copyMissing = gauge(
    'dashkeep_copy_missing_snapshots',
    'Snapshots of the archive that the copy lacks',
    'copy',
  )
  // Until the first read there is no time. 0 would look like a very old read.
  readAt.remove()
  duration.remove()

  return {
    ...createProcessMetrics(registry),
    contentType: registry.contentType,
    text: () => Registry.merge([registry, accountRegistry]).metrics(),
    setArchive(accounts, read) {
      accountRegistry = createAccountRegistry(accounts)
      readable.set(1)
      readAt.set(read.readAt.getTime() / 1000)
      duration.set(read.durationMs / 1000)
    },
    setCopies(copies) {
      copyReadable.reset()
      copyMissing.reset()
      for (const { name, accounts, error } of copies) {
        copyReadable.set({ copy: name }, error === undefined ? 1 : 0)
        if (error !== undefined) continue
        const missing = accounts.reduce((sum, one) => sum + one.missing, 0)
        copyMissing.set({ copy: name }, missing)
      }
    },
    setUnreadable: () => readable.set(0),
  }
}

function createAccountRegistry(accounts: ReadonlyMap<string, JudgedAccount>): Registry {
  const registry = new Registry()
  const gauges = createArchiveGauges(registry)
  const states = new Gauge({
    name: 'dashkeep_account_state',
    help: 'Always 1; the state of the account, as `dashkeep status` prints it, is its label',
    labelNames: ['account', 'state'],
    registers: [registry],
  })
  const proofs = createProofGauges(registry)
  for (const [account, judged] of accounts) {
    states.set({ account, state: judged.state }, 1)
    if (judged.state !== 'missing') gauges.observe(account, judged)
    if (judged.proofs !== undefined) proofs.observe(account, judged.proofs)
  }
  return registry
}

function createProofGauges(registry: Registry) {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['account', 'kind'], registers: [registry] })
  const lastProof = gauge(
    'dashkeep_last_proof_timestamp_seconds',
    'When the newest good verification of every snapshot, or the newest good drill, began',
  )
  const failed = gauge(
    'dashkeep_proof_failed',
    '1 when a check failed and no good one has followed, or a newer record cannot be read, else 0',
  )
  return {
    observe(account: string, judgement: ProofJudgement): void {
      for (const kind of proofKinds) {
        const proof = judgement[kind]
        // A record that cannot be read may be of a failed check, of either kind.
        const isOpen = judgement.failed.some((one) => one.kind === kind)
        const hasFailed = isOpen || judgement.unreadable.length > 0
        if (proof) lastProof.set({ account, kind }, proof.startedAt.getTime() / 1000)
        if (proof || hasFailed) failed.set({ account, kind }, hasFailed ? 1 : 0)
      }
    },
  }
}
