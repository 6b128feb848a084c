import type { AccountConfig, Config, CopyConfig, StoreConfig } from './config.ts'
import { formatDuration } from './duration.ts'

/**
 * Converts a configuration to the form of the file, with the defaults. The file has the same meaning,
 * except that it contains no shard, since each process has its own.
 */
export function toDocument(config: Config): object {
  const { accounts, management, store, copies, importPath, guard, retention, schedule, worker } =
    config
  const { git, types, compression, encryption, metrics, notifications, limits, logLevel } = config
  return withoutUndefined({
    service: { importPath },
    accounts: accounts.length > 0 ? accounts : undefined,
    management: management && withoutName(management),
    store: store && withLockAsText(store),
    copies: copies.length > 0 ? copies.map(copyToSection) : undefined,
    git: git && { folder: git.folder, push: git.push, deadline: formatDuration(git.deadlineMs) },
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

function withLockAsText({ lock, ...store }: StoreConfig): object {
  if (lock === undefined) return store
  return { ...store, lock: { mode: lock.mode, duration: formatDuration(lock.durationMs) } }
}

function copyToSection({ deadlineMs, ...copy }: CopyConfig): object {
  return { ...withLockAsText(copy), deadline: formatDuration(deadlineMs) }
}

function withinAsText({ withinMs, ...rules }: NonNullable<Config['retention']>): object {
  return { ...rules, within: withinMs === undefined ? undefined : formatDuration(withinMs) }
}

/** JSON and YAML have no undefined: leaves those members out. */
function withoutUndefined(document: object): object {
  return JSON.parse(JSON.stringify(document)) as object
}
