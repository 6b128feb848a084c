import pMap from 'p-map'
import { countObjects } from '../archive/manifest.ts'
import { type TakenSnapshot, takeSnapshot } from '../archive/take.ts'
import type { TakeProgress } from '../archive/take-options.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { causeOf, DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { connectAccount, openEncryption, scanLimitsOf, sealEncryption, sourceOf } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { settleOwners } from './owners.ts'

/** Result of the backup of one configured account. */
export type AccountBackup = {
  readonly account: AccountConfig
  /** From the service, or as configured when the service was not asked. */
  readonly accountId: number | undefined
  readonly durationMs: number
  /** Repeated requests and restarted exports. */
  readonly retries: number
} & (
  | { readonly taken: TakenSnapshot; readonly error?: undefined }
  | { readonly taken?: undefined; readonly error: Error }
)

interface BackupOptions {
  readonly env: Environment
  readonly log: Logger
  readonly now: () => Date
  readonly full?: boolean | undefined
  readonly acceptFall?: boolean | undefined
  readonly acceptService?: boolean | undefined
  /** All configured accounts, when only some are backed up. */
  readonly configured?: readonly AccountConfig[] | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (account: AccountConfig, progress: TakeProgress) => void
  /** Called once for each account, when its backup has ended. */
  readonly onDone?: (backup: AccountBackup) => void
}

/** Names of changed objects that the results of all accounts hold together. */
const MAX_REMEMBERED = 10_000

/**
 * Backs up every configured account, a few at once. A failed account does not affect the others.
 * Returns one result per account, in the order of the configuration. Throws only when interrupted.
 *
 * `onDone` gets the names of all changed objects. The returned results hold at most 10,000 names, so
 * that memory does not grow with the number of accounts.
 */
export async function backupAccounts(
  config: Config,
  store: ObjectStore,
  options: BackupOptions,
): Promise<AccountBackup[]> {
  const { known, unsettled } = await settleOwners(config, options)
  let room = MAX_REMEMBERED
  const backups = await pMap(
    config.accounts,
    async (account) => {
      const owner = known.get(account.name)
      const backup = await backupAccount(account, config, store, { ...options, owner, unsettled })
      options.onDone?.(backup)
      const names = countNames(backup)
      if (names > room) return withoutNames(backup)
      room -= names
      return backup
    },
    { concurrency: config.limits.accounts },
  )
  options.signal?.throwIfAborted()
  return backups
}

interface AccountBackupOptions extends BackupOptions {
  /** Id of the account that the token must belong to, or why there is no backup. */
  readonly owner?: number | Error | undefined
  /** Names of configured accounts whose owner is not known. */
  readonly unsettled?: ReadonlySet<string> | undefined
}

/** Backs up one account. Returns a failure instead of throwing it. */
export async function backupAccount(
  account: AccountConfig,
  config: Config,
  store: ObjectStore,
  options: AccountBackupOptions,
): Promise<AccountBackup> {
  const log = options.log.child({ account: account.name })
  const startedAt = performance.now()
  let { accountId } = account
  let retries = 0
  const effort = () => ({ account, accountId, durationMs: performance.now() - startedAt, retries })
  const onRetry = () => {
    retries += 1
  }
  const onProgress = (progress: TakeProgress) => {
    logProgress(log, progress)
    if (progress.step === 'account') accountId = progress.account.accountId
    if (progress.step === 'broken-off') onRetry()
    options.onProgress?.(account, progress)
  }
  try {
    const taken = await backUp(account, config, store, { ...options, onRetry, onProgress })
    logTaken(log, taken)
    return { ...effort(), taken }
  } catch (error) {
    logFailure(log, error as Error)
    return { ...effort(), error: error as Error }
  }
}

async function backUp(
  account: AccountConfig,
  config: Config,
  store: ObjectStore,
  options: Omit<AccountBackupOptions, 'onProgress'> & {
    onRetry: () => void
    onProgress: (progress: TakeProgress) => void
  },
): Promise<TakenSnapshot> {
  const { owner = account.accountId, env, now, signal } = options
  const { limits } = config
  signal?.throwIfAborted()
  if (owner instanceof Error) throw owner
  await using service = await connectAccount(account, config, options)
  return await takeSnapshot(sourceOf(service), store, {
    takenAt: now(),
    now,
    types: [...config.types, ...(account.include ?? [])],
    expectedAccountId: owner,
    configuredAs: account.name,
    unsettled: account.accountId === undefined ? options.unsettled : undefined,
    acceptService: options.acceptService,
    compression: config.compression,
    ...config.guard,
    maxClockSkewMs: limits.maxClockSkewMs,
    exportAttempts: limits.attempts,
    retryBaseMs: limits.retryBaseMs,
    sealer: await sealEncryption(config, env),
    opener: await openEncryption(config, env),
    scanLimits: scanLimitsOf(config),
    proveEachRunBytes: limits.proveEachRunBytes,
    full: options.full,
    acceptFall: options.acceptFall,
    signal,
    onProgress: options.onProgress,
  })
}

function logProgress(log: Logger, progress: TakeProgress): void {
  if (progress.step === 'exported') {
    const { type, objects, file, remarks } = progress.export
    log.debug({ type, objects, bytes: file.content.bytes, remarks }, 'exported')
  } else if (progress.step === 'stored') {
    log.debug(
      { file: progress.file.name, bytes: progress.file.stored.bytes },
      'stored and read back',
    )
  } else if (progress.step === 'broken-off') {
    log.warn({ type: progress.type, reason: progress.error.message }, 'restarting the export')
  }
}

function logTaken(log: Logger, { manifest, warnings, missing }: TakenSnapshot): void {
  const { snapshot, sameAs, changes, suspect } = manifest
  const objects = countObjects(manifest)
  for (const warning of warnings) log.warn({ snapshot }, warning)
  if (suspect) {
    log.warn({ snapshot, objects, reasons: suspect.reasons, missing }, 'snapshot is suspect')
  } else log.info({ snapshot, objects, sameAs, changes }, 'snapshot taken')
}

function logFailure(log: Logger, error: Error): void {
  const { kind, hint } = error as Partial<DashkeepError>
  if (kind === 'interrupted') log.warn({ reason: error.message }, 'backup interrupted')
  else log.error({ reason: error.message, hint }, 'backup failed')
  const cause = causeOf(error)
  if (cause !== undefined) log.debug({ cause }, 'cause of the failure')
  if (!(error instanceof DashkeepError)) log.debug({ stack: error.stack }, 'unexpected error')
}

function countNames({ taken }: AccountBackup): number {
  const lists = taken?.changes?.flatMap(({ added, removed, changed }) => [added, removed, changed])
  return lists?.reduce((sum, list) => sum + list.length, 0) ?? 0
}

/** Removes the names of changed objects. The counts stay. */
function withoutNames(backup: AccountBackup): AccountBackup {
  if (backup.taken === undefined) return backup
  const none = { added: [], removed: [], changed: [] }
  const changes = backup.taken.changes?.map((change) => ({ ...change, ...none }))
  return { ...backup, taken: { ...backup.taken, changes } }
}
