import type { AccountConfig, Config } from './config.ts'
import { formatDuration } from './duration.ts'

/**
 * Writes a configuration in the form of the file, defaults included, so that the file means the
 * same. The shard is left out: each process has its own.
 */
export function toDocument(config: Config): object {
  const { accounts, management, store, importPath, guard, retention, schedule, worker } = config
  const { types, compression, encryption, metrics, notifications, limits, logLevel } = config
  return withoutUndefined({
    service: { importPath },
    accounts: accounts.length > 0 ? accounts : undefined,
    management: management && withoutName(management),
    store: store && { ...store, lock: store.lock && withDuration(store.lock) },
    types,
    compression,
    encryption,
    guard: { maxFall: guard.maxFall, window: formatDuration(guard.windowMs) },
    retention: retention && withinAsText(retention),
    schedule: schedule && {
      cron: schedule.cron,
      timeZone: schedule.timeZone,
      jitter: formatDuration(schedule.jitterMs),
      deadline: formatDuration(schedule.deadlineMs),
      pruneAfter: schedule.pruneAfter,
    },
    worker: { listen: worker.listen ?? false, grace: formatDuration(worker.graceMs) },
    metrics,
    notifications,
    limits,
    logLevel,
  })
}

function withoutName({ name: _, ...account }: AccountConfig): object {
  return account
}

function withDuration({ durationMs, ...lock }: { durationMs: number }): object {
  return { ...lock, duration: formatDuration(durationMs) }
}

function withinAsText({ withinMs, ...rules }: NonNullable<Config['retention']>): object {
  return { ...rules, within: withinMs === undefined ? undefined : formatDuration(withinMs) }
}

/** JSON and YAML have no undefined: leaves those members out. */
function withoutUndefined(document: object): object {
  return JSON.parse(JSON.stringify(document)) as object
}
