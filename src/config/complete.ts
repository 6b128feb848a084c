import type { RetentionPolicy } from '../archive/retention.ts'
import { defaultTakeOptions } from '../archive/take-options.ts'
import { defaultScanLimits } from '../export/export-scanner.ts'
import { defaultServiceLimits } from '../service/limits.ts'
import {
  archiveName,
  type Config,
  type CopyConfig,
  defaultTypes,
  type Limits,
  type ScheduleConfig,
} from './config.ts'
import { parseDuration } from './duration.ts'
import { completeNotification } from './notifications.ts'
import type { FileConfig } from './schema.ts'

const defaultLimits: Limits = {
  accounts: 4,
  connectTimeoutMs: defaultServiceLimits.connectTimeoutMs,
  headersTimeoutMs: defaultServiceLimits.headersTimeoutMs,
  bodyTimeoutMs: defaultServiceLimits.bodyTimeoutMs,
  answerTimeoutMs: defaultServiceLimits.answerTimeoutMs,
  attempts: defaultServiceLimits.attempts,
  retryBaseMs: defaultServiceLimits.retryBaseMs,
  maxExportBytes: defaultScanLimits.maxExportBytes,
  maxObjects: defaultScanLimits.maxObjects,
  maxHitBytes: defaultScanLimits.maxHitBytes,
  maxClockSkewMs: 3600_000,
  maxImportBytes: 1024 ** 2,
  proveEachRunBytes: defaultTakeOptions.proveEachRunBytes,
}

/** Fills in the defaults. */
export function complete(
  file: FileConfig,
  outside: Pick<Config, 'accounts' | 'management' | 'stores' | 'shard' | 'findProxy'>,
): Config {
  return {
    ...outside,
    store: file.store?.url === undefined ? undefined : completeStore(file.store),
    copies: (file.copies ?? []).map(completeCopy),
    git: file.git && completeGit(file.git),
    importPath: file.service?.importPath || '/kibana/import',
    types: file.types ?? defaultTypes,
    compression: file.compression ?? 'zstd',
    encryption: file.encryption,
    guard: {
      maxFall: file.guard?.maxFall ?? defaultTakeOptions.maxFall,
      windowMs: file.guard?.window ? parseDuration(file.guard.window) : defaultTakeOptions.windowMs,
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

type StoreSection = NonNullable<FileConfig['store']>

function completeStore<Section extends StoreSection>({ url = '', lock, ...others }: Section) {
  if (lock === undefined) return { ...others, url }
  return { ...others, url, lock: { mode: lock.mode, durationMs: parseDuration(lock.duration) } }
}

/** All stores that a configuration names: the archive and its copies. */
export function completeStores({ store, copies = [] }: FileConfig): CopyConfig[] {
  const archive = store?.url === undefined ? [] : [completeCopy({ ...store, name: archiveName })]
  return [...archive, ...copies.map(completeCopy)]
}

type CopySection = StoreSection &
  Pick<NonNullable<FileConfig['copies']>[number], 'name'> & {
    newerOnly?: boolean | undefined
    deadline?: string | undefined
  }

function completeCopy({ deadline = '30m', ...copy }: CopySection): CopyConfig {
  return { ...completeStore(copy), deadlineMs: parseDuration(deadline) }
}

function completeGit({ folder, push = false, deadline = '30m' }: NonNullable<FileConfig['git']>) {
  return { folder, push, deadlineMs: parseDuration(deadline) }
}

function completeSchedule(schedule: NonNullable<FileConfig['schedule']>): ScheduleConfig {
  const { cron, timeZone = 'UTC', jitter = '0s', deadline = '6h', pruneAfter = false } = schedule
  const [jitterMs, deadlineMs] = [parseDuration(jitter), parseDuration(deadline)]
  return { cron, timeZone, jitterMs, deadlineMs, pruneAfter }
}

function completeRetention({
  within,
  ...rules
}: NonNullable<FileConfig['retention']>): RetentionPolicy {
  return { ...rules, ...(within !== undefined && { withinMs: parseDuration(within) }) }
}

function withoutUndefined(limits: object): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}
