import type { Config, Environment } from '../config/config.ts'
import { hintOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../worker/clock.ts'
import { CONFIG_INTERVAL_MS, type ConfigState, createConfigState } from '../worker/config-state.ts'
import { startDeadline } from '../worker/deadline.ts'
import { startServer } from '../worker/server.ts'
import { createExporterMetrics, type ExporterMetrics } from './exporter-metrics.ts'
import { type JudgedAccount, judgeArchive, judgeCopies } from './judge-archive.ts'
import { type ReadProofs, rememberProofs } from './remember-proofs.ts'

/** Longest wait after a failed read of the archive. */
const RETRY_MS = 60_000

/** Longest time for one read of the archive. */
const DEADLINE_MS = 15 * 60_000

interface ExporterOptions {
  /** Reads the configuration again. */
  readonly load: () => Promise<Config>
  /** Address of the HTTP server, as `host:port`. */
  readonly listen: string
  /** Time between two reads of the archive. */
  readonly intervalMs: number
  /** Accounts whose newest good snapshot is older are stale; none when undefined. */
  readonly maxAgeMs: number | undefined
  /** Accounts whose newest proof is older are unproven; none when undefined. */
  readonly maxProofAgeMs: number | undefined
  readonly env: Environment
  readonly log: Logger
  readonly clock: Clock
  /** Asks the exporter to stop. */
  readonly signal: AbortSignal
}

/** An exporter and its state between reads. */
interface Exporter extends ExporterOptions {
  readonly metrics: ExporterMetrics
  /** Reads the proof records of the configured archive. */
  readProofs: ReadProofs
  /** The last valid configuration. */
  config: Config
  readonly configState: ConfigState
  /** Why the last read of the archive failed. */
  archiveProblem: string | undefined
  hasRead: boolean
}

/**
 * Reads the archive at intervals and serves metrics of the configured accounts, until aborted. Writes
 * nothing, and sends no request to the service.
 *
 * A scrape returns the values of the last read; its time is a metric. A failed read keeps the
 * values, sets `dashkeep_archive_readable` to 0, and is repeated within a minute. A changed
 * configuration is adopted within a minute. Throws when it is invalid at the start.
 */
export async function runExporter(options: ExporterOptions): Promise<void> {
  const config = await options.load()
  const metrics = createExporterMetrics()
  const { listen, log } = options
  const exporter: Exporter = {
    ...options,
    metrics,
    readProofs: rememberProofs(),
    config,
    configState: createConfigState(metrics, log),
    archiveProblem: undefined,
    hasRead: false,
  }
  const unready = () => reasonsOf(exporter)
  const hint = 'give --listen another address'
  await using server = await startServer(listen, { metrics, unready }, hint)
  log.info({ url: server.url, accounts: config.accounts.length }, 'exporter started')
  await followArchive(exporter)
  log.info('stopped')
}

function reasonsOf({ signal, hasRead, configState }: Exporter): string[] {
  const reasons: (string | false)[] = [
    signal.aborted && 'stopping',
    !hasRead && 'the archive has not been read yet',
    configState.problem !== undefined && 'the configuration is invalid',
  ]
  return reasons.filter((reason) => reason !== false)
}

/** Reads the archive at each interval, and at once when the configuration has changed. */
async function followArchive(exporter: Exporter): Promise<void> {
  const { clock, signal } = exporter
  let readAt = clock.now()
  let waitMs = await readArchive(exporter)
  while (!signal.aborted) {
    await clock.sleep(Math.min(waitMs, CONFIG_INTERVAL_MS), signal)
    if (signal.aborted) return
    const isChanged = await refresh(exporter)
    const now = clock.now()
    const passedMs = now.getTime() - readAt.getTime()
    // A clock that was set back does not delay a read.
    if (!isChanged && passedMs >= 0 && passedMs < waitMs) continue
    readAt = now
    waitMs = await readArchive(exporter)
  }
}

/** Reads the configuration again. Returns whether it has changed. Never throws. */
async function refresh(exporter: Exporter): Promise<boolean> {
  const { load, log, configState } = exporter
  try {
    const config = await load()
    configState.accept()
    if (JSON.stringify(config) === JSON.stringify(exporter.config)) return false
    exporter.config = config
    exporter.readProofs = rememberProofs()
    log.info({ accounts: config.accounts.length }, 'configuration adopted')
    return true
  } catch (error) {
    configState.refuse(error as Error)
    return false
  }
}

/** Reads the archive once. Returns the time until the next read. Never throws. */
async function readArchive(exporter: Exporter): Promise<number> {
  const { config, clock, maxAgeMs, maxProofAgeMs, env, log, metrics, intervalMs } = exporter
  using deadline = startDeadline(clock, DEADLINE_MS, {
    message: `Cannot read the archive: it takes longer than ${DEADLINE_MS / 60_000} minutes`,
    hint: 'check whether the store answers slowly',
  })
  const signal = AbortSignal.any([exporter.signal, deadline.signal])
  const now = clock.now()
  const begun = performance.now()
  try {
    const judging = { now, maxAgeMs, maxProofAgeMs, env, log, signal }
    const accounts = await judgeArchive(config, { ...judging, readProofs: exporter.readProofs })
    const durationMs = performance.now() - begun
    metrics.setArchive(accounts, { readAt: now, durationMs })
    exporter.hasRead = true
    exporter.archiveProblem = undefined
    log.info({ durationMs: Math.round(durationMs), ...countStates(accounts) }, 'archive read')
    // Reading a copy has a limit of its own, so that a copy that hangs is no failure of the archive.
    const copies = await judgeCopies(config, { ...judging, signal: exporter.signal })
    metrics.setCopies(copies)
    if (copies.length > 0) log.info({ copies: copies.length }, 'copies read')
    return intervalMs
  } catch (error) {
    if (exporter.signal.aborted) return 0
    const { message } = error as Error
    metrics.setUnreadable()
    const isKnown = exporter.archiveProblem === message
    if (!isKnown) log.error({ reason: message, hint: hintOf(error) }, 'archive cannot be read')
    exporter.archiveProblem = message
    return Math.min(RETRY_MS, intervalMs)
  }
}

/** Number of accounts in each state. */
function countStates(accounts: ReadonlyMap<string, JudgedAccount>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of accounts.values()) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
