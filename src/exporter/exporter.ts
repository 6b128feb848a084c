import type { Config, Environment } from '../config/config.ts'
import { hintOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../worker/clock.ts'
import { startDeadline } from '../worker/deadline.ts'
import { startServer } from '../worker/server.ts'
import { createExporterMetrics, type ExporterMetrics } from './exporter-metrics.ts'
import { type JudgedAccount, judgeArchive } from './judge-archive.ts'

/** Time between two looks at the configuration. */
const CONFIG_INTERVAL_MS = 30_000

/** Longest wait after a look at the archive that failed. */
const RETRY_MS = 60_000

/** A look at the archive that takes longer has failed. */
const DEADLINE_MS = 15 * 60_000

export interface ExporterOptions {
  /** Reads the configuration anew. */
  readonly load: () => Promise<Config>
  /** Where metrics and health are served, as `host:port`. */
  readonly listen: string
  /** Time between two looks at the archive. */
  readonly intervalMs: number
  /** Older than this is stale; nothing is when undefined. */
  readonly maxAgeMs: number | undefined
  readonly env: Environment
  readonly log: Logger
  readonly clock: Clock
  /** Asks the exporter to stop. */
  readonly signal: AbortSignal
}

/** What an exporter knows from look to look. */
interface Exporter extends ExporterOptions {
  readonly metrics: ExporterMetrics
  /** The last configuration that could be used. */
  config: Config
  /** Why the configuration could not be used when it was last read. */
  configProblem: string | undefined
  /** Why the archive could not be read when it was last looked at. */
  archiveProblem: string | undefined
  hasRead: boolean
}

/**
 * Looks at the archive at intervals and serves what it says of the configured accounts, until told
 * to stop. Writes nothing, and asks no service.
 *
 * A scrape is answered with the last look, whose age is a metric of its own. A look that fails leaves
 * the values as they were, says so in `dashkeep_archive_readable`, and is repeated within a minute.
 * A changed configuration is adopted within a minute. Throws when it cannot be used at the start.
 */
export async function runExporter(options: ExporterOptions): Promise<void> {
  const config = await options.load()
  const metrics = createExporterMetrics()
  metrics.setConfigGood(true)
  const problems = { configProblem: undefined, archiveProblem: undefined }
  const exporter: Exporter = { ...options, ...problems, metrics, config, hasRead: false }
  const { listen, log } = options
  const unready = () => reasonsOf(exporter)
  const hint = 'give --listen another address'
  await using server = await startServer(listen, { metrics, unready }, hint)
  log.info({ url: server.url, accounts: config.accounts.length }, 'exporter started')
  await followArchive(exporter)
  log.info('stopped')
}

function reasonsOf({ signal, hasRead, configProblem }: Exporter): string[] {
  const reasons: (string | false)[] = [
    signal.aborted && 'stopping',
    !hasRead && 'the archive has not been read yet',
    configProblem !== undefined && 'the configuration cannot be used',
  ]
  return reasons.filter((reason) => reason !== false)
}

/** Looks at the archive when the interval has passed, and at once when the configuration changed. */
async function followArchive(exporter: Exporter): Promise<void> {
  const { clock, signal } = exporter
  let lookedAt = clock.now()
  let waitMs = await look(exporter)
  while (!signal.aborted) {
    await clock.sleep(Math.min(waitMs, CONFIG_INTERVAL_MS), signal)
    if (signal.aborted) return
    const isChanged = await refresh(exporter)
    const now = clock.now()
    const passedMs = now.getTime() - lookedAt.getTime()
    // A clock that was set back does not delay a look.
    if (!isChanged && passedMs >= 0 && passedMs < waitMs) continue
    lookedAt = now
    waitMs = await look(exporter)
  }
}

/** Reads the configuration anew. Returns whether it is another than before. Never throws. */
async function refresh(exporter: Exporter): Promise<boolean> {
  const { load, log, metrics } = exporter
  try {
    const config = await load()
    exporter.configProblem = undefined
    metrics.setConfigGood(true)
    if (JSON.stringify(config) === JSON.stringify(exporter.config)) return false
    exporter.config = config
    log.info({ accounts: config.accounts.length }, 'configuration adopted')
    return true
  } catch (error) {
    const { message } = error as Error
    const isKnown = exporter.configProblem === message
    if (!isKnown) log.error({ reason: message }, 'configuration cannot be used')
    exporter.configProblem = message
    metrics.setConfigGood(false)
    return false
  }
}

/** Looks at the archive once. Returns the time until the next look. Never throws. */
async function look(exporter: Exporter): Promise<number> {
  const { config, clock, maxAgeMs, env, log, metrics, intervalMs } = exporter
  using deadline = startDeadline(clock, DEADLINE_MS, {
    message: `Cannot read the archive: it takes longer than ${DEADLINE_MS / 60_000} minutes`,
    hint: 'look what keeps the store from answering',
  })
  const signal = AbortSignal.any([exporter.signal, deadline.signal])
  const now = clock.now()
  const begun = performance.now()
  try {
    const accounts = await judgeArchive(config, { now, maxAgeMs, env, log, signal })
    const durationMs = performance.now() - begun
    metrics.setArchive(accounts, { readAt: now, durationMs })
    exporter.hasRead = true
    exporter.archiveProblem = undefined
    log.info({ durationMs: Math.round(durationMs), ...countStates(accounts) }, 'archive read')
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

/** How many accounts are in each state. */
function countStates(accounts: ReadonlyMap<string, JudgedAccount>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of accounts.values()) counts[state] = (counts[state] ?? 0) + 1
  return counts
}
