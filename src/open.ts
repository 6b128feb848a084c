import { encodeList, subAccountsType } from './accounts/list-document.ts'
import type { SubAccountService } from './accounts/service.ts'
import type { Account, SavedObjectSource } from './archive/source.ts'
import type { AccountConfig, Config, Environment } from './config/config.ts'
import { readSecret } from './config/secrets.ts'
import { createOpener, createSealer, type Opener, type Sealer } from './datafile/encryption.ts'
import { DashkeepError } from './errors.ts'
import { defaultScanLimits, type ScanLimits } from './export/export-scanner.ts'
import type { Logger } from './log.ts'
import type { ServiceClient } from './service/client.ts'
import { ServiceError, type ServiceErrorCode } from './service/errors.ts'
import type { ObjectStore } from './store/object-store.ts'
import { openStore } from './store/open-store.ts'

/** Opens the store of the archive that the configuration names. */
export async function openArchive(
  { store, findProxy }: Config,
  { env, log }: { env: Environment; log: Logger },
): Promise<ObjectStore> {
  if (store === undefined) throw new Error('loadConfig was not asked for a store')
  return openStore(store.url, {
    endpoint: store.endpoint,
    region: store.region,
    forcePathStyle: store.pathStyle,
    tagging: store.tags,
    lock: store.lock,
    encryption: store.encryption,
    caBundle: store.caBundle,
    findProxy,
    env,
    onRetry: ({ error, ...retry }) => log.warn({ ...retry, reason: error.message }, 'retrying'),
    onWarning: (reason) => log.warn({ reason }, 'the AWS SDK warns'),
  })
}

/** The limits of reading an export. */
export function scanLimitsOf({ limits }: Config): ScanLimits {
  const { maxExportBytes, maxObjects, maxHitBytes } = limits
  return { ...defaultScanLimits, maxExportBytes, maxObjects, maxHitBytes }
}

/** What encrypts new files; undefined when the configuration asks for none. */
export async function sealEncryption(
  { encryption }: Config,
  env: Environment,
): Promise<Sealer | undefined> {
  if (encryption?.recipients) return createSealer({ recipients: encryption.recipients })
  if (!encryption?.passphrase) return undefined
  return createSealer({ passphrase: await readSecret(encryption.passphrase, env, 'passphrase') })
}

/** What reads encrypted files; undefined when the configuration names no key for it. */
export async function openEncryption(
  { encryption }: Config,
  env: Environment,
): Promise<Opener | undefined> {
  if (!encryption?.identity && !encryption?.passphrase) return undefined
  const { identity, passphrase } = encryption
  return createOpener({
    identity: identity && (await readSecret(identity, env, 'identity')),
    passphrase: passphrase && (await readSecret(passphrase, env, 'passphrase')),
  })
}

/** Connects to an account's service with its token, read anew. */
export async function connectAccount(
  account: AccountConfig,
  config: Config,
  {
    env,
    log,
    now,
    onRetry,
  }: { env: Environment; log: Logger; now?: () => Date; onRetry?: () => void },
): Promise<ServiceClient> {
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs, maxExportBytes } = config.limits
  const { answerTimeoutMs, attempts, retryBaseMs } = config.limits
  // Imported late: verbs that read the archive alone have no use for an HTTP client.
  const { createServiceClient } = await import('./service/client.ts')
  return createServiceClient({
    baseUrl: account.baseUrl,
    pathPrefix: account.pathPrefix,
    importPath: config.importPath,
    proxy: config.findProxy(new URL(account.baseUrl)),
    token: await readSecret(account.token, env, 'token'),
    now,
    limits: {
      connectTimeoutMs,
      headersTimeoutMs,
      bodyTimeoutMs,
      answerTimeoutMs,
      attempts,
      retryBaseMs,
      maxExportBytes,
    },
    onRetry: ({ action, attempt, delayMs, error }) => {
      onRetry?.()
      const reason = error.message
      log.warn({ account: account.name, action, attempt, delayMs, reason }, 'retrying')
    },
  })
}

/** The saved objects of an account, and the settings of its sub accounts as one more type. */
export function sourceOf(service: ServiceClient): SavedObjectSource {
  return {
    address: service.address,
    get clockSkewMs() {
      return service.clockSkewMs
    },
    whoami: service.whoami,
    checkMembers: service.checkMembers,
    async exportObjects(type, options) {
      if (type !== subAccountsType) return service.exportObjects(type, options)
      return ReadableStream.from([encodeList(await service.listSubAccounts(options))])
    },
  }
}

/** Throws a `usage` error when a token belongs to another account than the configuration expects. */
export function checkOwner({ name, accountId }: AccountConfig, owner: Account): void {
  if (accountId === undefined || accountId === owner.accountId) return
  throw new DashkeepError(
    `Cannot use the token of ${name}: it belongs to account ${owner.accountId} (${owner.accountName}) instead of ${accountId}`,
    {
      kind: 'usage',
      hint: 'use a token of the expected account, or correct the expected account id',
    },
  )
}

/** The sub accounts of a main account, and the main account itself. */
export interface Management extends SubAccountService, AsyncDisposable {
  /** Whom the token belongs to. */
  readonly main: { readonly accountId: number; readonly accountName: string }
  readonly address: string
}

/**
 * Connects to the management of sub accounts with a main account's token. Throws a `usage` error
 * when the token belongs to another account than the configured one.
 */
export async function connectManagement(
  account: AccountConfig,
  config: Config,
  { env, log, signal }: { env: Environment; log: Logger; signal: AbortSignal },
): Promise<Management> {
  const client = await connectAccount(account, config, { env, log })
  try {
    const main = await client.whoami({ signal })
    checkOwner(account, main)
    return {
      main,
      address: client.address,
      listSubAccounts: client.listSubAccounts,
      createSubAccount: client.createSubAccount,
      replaceSubAccount: client.replaceSubAccount,
      isRefusal: (error) =>
        error instanceof ServiceError && refusals.has(error.code) && error.attempt === 1,
      [Symbol.asyncDispose]: client.close,
    }
  } catch (error) {
    await client.close()
    throw error
  }
}

/** Failures after which the service has not done what it was asked. */
const refusals: ReadonlySet<ServiceErrorCode> = new Set([
  'refused-token',
  'wrong-region',
  'no-endpoint',
  'unknown-account',
  'rejected',
  'redirected',
  'too-many-requests',
] as const)
