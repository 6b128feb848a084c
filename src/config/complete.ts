import {
  type Config,
  defaultTypes,
  type Limits,
  type Retention,
  type ScheduleConfig,
  type StoreConfig,
} from './config.ts'
import { parseDuration } from './duration.ts'
import { completeNotification } from './notifications.ts'
import type { FileConfig } from './schema.ts'

const defaultLimits: Limits = {
  accounts: 4,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 120_000,
  bodyTimeoutMs: 60_000,
  answerTimeoutMs: 3600_000,
  attempts: 4,
  retryBaseMs: 500,
  maxExportBytes: 4 * 1024 ** 3,
  maxObjects: 3_000_000,
  maxHitBytes: 16 * 1024 ** 2,
  maxClockSkewMs: 3600_000,
  maxImportBytes: 1024 ** 2,
  proveEachRunBytes: 64 * 1024 ** 2,
}

/** Fills in the defaults. */
export function complete(
  file: FileConfig,
  outside: Pick<Config, 'accounts' | 'management' | 'shard' | 'findProxy'>,
): Config {
  return {
    ...outside,
    store: completeStore(file.store),
    importPath: file.service?.importPath || '/kibana/import',
    types: file.types ?? defaultTypes,
    compression: file.compression ?? 'zstd',
    encryption: file.encryption,
    guard: {
      maxFall: file.guard?.maxFall ?? 0.5,
      windowMs: parseDuration(file.guard?.window ?? '7d'),
    },
    retention: file.retention && completeRetention(file.retention),
    schedule: file.schedule && completeSchedule(file.schedule),
    worker: {
      listen: file.worker?.listen === false ? undefined : (file.worker?.listen ?? '127.0.0.1:5337'),
      graceMs: parseDuration(file.worker?.grace ?? '25s'),
    },
    metrics: { textfile: file.metrics?.textfile, pushgateway: file.metrics?.pushgateway },
    notifications: (file.notifications ?? []).map(completeNotification),
    limits: { ...defaultLimits, ...withoutUndefined(file.limits ?? {}) },
    logLevel: file.logLevel,
  }
}

function completeStore(store: FileConfig['store']): StoreConfig | undefined {
  if (store?.url === undefined) return undefined
  const { url, lock, ...others } = store
  if (lock === undefined) return { ...others, url }
  return { ...others, url, lock: { mode: lock.mode, durationMs: parseDuration(lock.duration) } }
}

function completeSchedule(schedule: NonNullable<FileConfig['schedule']>): ScheduleConfig {
  const { cron, timeZone = 'UTC', jitter = '0s', deadline = '6h', pruneAfter = false } = schedule
  const [jitterMs, deadlineMs] = [parseDuration(jitter), parseDuration(deadline)]
  return { cron, timeZone, jitterMs, deadlineMs, pruneAfter }
}

function completeRetention({ within, ...rules }: NonNullable<FileConfig['retention']>): Retention {
  return { ...rules, ...(within !== undefined && { withinMs: parseDuration(within) }) }
}

function withoutUndefined(limits: object): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
