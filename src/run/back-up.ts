import pMap from 'p-map'
import { countObjects } from '../archive/manifest.ts'
import { type TakenSnapshot, takeSnapshot } from '../archive/take.ts'
import type { TakeProgress } from '../archive/take-options.ts'
import type { AccountConfig, Config, Environment } from '../config/config.ts'
import { causeOf, DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { connectAccount, openEncryption, scanLimitsOf, sealEncryption, sourceOf } from '../open.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { findRivals } from './owners.ts'

/** How the backup of one configured account ended. */
export type AccountBackup = {
  readonly account: AccountConfig
  /** As the service says, or as configured when it was not asked. */
  readonly accountId: number | undefined
  readonly durationMs: number
  /** Requests that were repeated and exports that were begun again. */
  readonly retries: number
} & (
  | { readonly taken: TakenSnapshot; readonly error?: undefined }
  | { readonly taken?: undefined; readonly error: Error }
)

export interface BackupOptions {
  readonly env: Environment
  readonly log: Logger
  readonly now: () => Date
  readonly full?: boolean | undefined
  readonly acceptFall?: boolean | undefined
  readonly acceptService?: boolean | undefined
  /** Every account of the configuration, when only some are backed up. */
  readonly configured?: readonly AccountConfig[] | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (account: AccountConfig, progress: TakeProgress) => void
  /** Called once for each account, as soon as it is done. */
  readonly onDone?: (backup: AccountBackup) => void
}

/** Changed objects whose names are remembered until a run over many accounts has ended. */
const MAX_REMEMBERED = 10_000

/**
 * Backs up every configured account, a few at once; one that fails does not hurt the others.
 * Returns how each ended, in the order of the configuration. Throws only when interrupted.
 * `onDone` is given every change by name, what is returned forgets names beyond 10,000 in all: so
 * memory grows by the accounts under way and not by all there are.
 */
export async function backupAccounts(
  config: Config,
  store: ObjectStore,
  options: BackupOptions,
): Promise<AccountBackup[]> {
  const owners = await settleOwners(config, options)
  let room = MAX_REMEMBERED
  const backups = await pMap(
    config.accounts,
    async (account) => {
      const owner = owners.known.get(account.name)
      const { unsettled } = owners
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

/** What is known of the owners of tokens before the first backup. */
interface Owners {
  /** By configured name: the account that the token must belong to, or why there is no backup. */
  readonly known: ReadonlyMap<string, number | Error>
  /** Names of configured accounts whose owner is not known. */
  readonly unsettled: ReadonlySet<string>
}

/**
 * Finds accounts that are configured twice, before one of them is backed up. The service is asked
 * only for accounts that are configured without an id, and only where there are several accounts:
 * one request for each of them. Never throws.
 */
async function settleOwners(config: Config, options: BackupOptions): Promise<Owners> {
  const { configured = config.accounts } = options
  const known = new Map<string, number | Error>()
  for (const { name, accountId } of configured) {
    if (accountId !== undefined) known.set(name, accountId)
  }
  const ask = async (account: AccountConfig) => {
    const asking = askOwner(account, config, options)
    known.set(account.name, await asking.catch((error: Error) => error))
  }
  const unknown = config.accounts.filter(({ accountId }) => accountId === undefined)
  const isAlone = configured.length < 2
  if (!isAlone) await pMap(unknown, ask, { concurrency: config.limits.accounts })
  const claims = configured.flatMap((account) => {
    const accountId = known.get(account.name)
    return typeof accountId === 'number' ? { account, accountId } : []
  })
  const settled = new Set(claims.map(({ account }) => account.name))
  const unsettled = configured.map(({ name }) => name).filter((name) => !settled.has(name))
  for (const [name, error] of findRivals(claims)) known.set(name, error)
  return { known, unsettled: new Set(unsettled) }
}

async function askOwner(
  account: AccountConfig,
  config: Config,
  options: BackupOptions,
): Promise<number> {
  options.signal?.throwIfAborted()
  await using service = await connectAccount(account, config, options)
  const { accountId } = await service.whoami({ signal: options.signal })
  return accountId
}

function countNames({ taken }: AccountBackup): number {
  const lists = taken?.changes?.flatMap(({ added, removed, changed }) => [added, removed, changed])
  return lists?.reduce((sum, list) => sum + list.length, 0) ?? 0
}

/** The same with the counts alone. */
function withoutNames(backup: AccountBackup): AccountBackup {
  if (backup.taken === undefined) return backup
  const none = { added: [], removed: [], changed: [] }
  const changes = backup.taken.changes?.map((change) => ({ ...change, ...none }))
  return { ...backup, taken: { ...backup.taken, changes } }
}

interface AccountBackupOptions extends BackupOptions {
  /** The account that the token must belong to, or why there is no backup. */
  readonly owner?: number | Error | undefined
  /** Names of configured accounts whose owner is not known. */
  readonly unsettled?: ReadonlySet<string> | undefined
}

/** Backs up one account; a failure is a value. */
export async function backupAccount(
  account: AccountConfig,
  config: Config,
  store: ObjectStore,
  options: AccountBackupOptions,
): Promise<AccountBackup> {
  const { owner = account.accountId } = options
  const log = options.log.child({ account: account.name })
  const begun = performance.now()
  let { accountId } = account
  let retries = 0
  const effort = () => ({ account, accountId, durationMs: performance.now() - begun, retries })
  const onRetry = () => {
    retries += 1
  }
  try {
    options.signal?.throwIfAborted()
    if (owner instanceof Error) throw owner
    await using service = await connectAccount(account, config, { ...options, onRetry })
    const taken = await takeSnapshot(sourceOf(service), store, {
      takenAt: options.now(),
      now: options.now,
      types: [...config.types, ...(account.include ?? [])],
      expectedAccountId: owner,
      configuredAs: account.name,
      unsettled: account.accountId === undefined ? options.unsettled : undefined,
      acceptService: options.acceptService,
      compression: config.compression,
      ...config.guard,
      maxClockSkewMs: config.limits.maxClockSkewMs,
      exportAttempts: config.limits.attempts,
      retryBaseMs: config.limits.retryBaseMs,
      sealer: await sealEncryption(config, options.env),
      opener: await openEncryption(config, options.env),
      scanLimits: scanLimitsOf(config),
      proveEachRunBytes: config.limits.proveEachRunBytes,
      full: options.full,
      acceptFall: options.acceptFall,
      signal: options.signal,
      onProgress: (progress) => {
        logProgress(log, progress)
        if (progress.step === 'account') accountId = progress.account.accountId
        if (progress.step === 'broken-off') onRetry()
        options.onProgress?.(account, progress)
      },
    })
    logTaken(log, taken)
    return { ...effort(), taken }
  } catch (error) {
    logFailure(log, error as Error)
    return { ...effort(), error: error as Error }
  }
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
    log.warn({ type: progress.type, reason: progress.error.message }, 'beginning the export again')
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
