// Tested by test/e2e/configuration.test.ts

import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { encodeList, subAccountsType } from './accounts/list-document.ts'
import type { SubAccountService } from './accounts/service.ts'
import { checkOwner } from './archive/check-owner.ts'
import type { SavedObjectSource } from './archive/source.ts'
import type { AccountConfig, Config, Environment, StoreConfig } from './config/config.ts'
import { readSecret } from './config/secrets.ts'
import { findOverlap } from './config/store-addresses.ts'
import { createOpener, createSealer, type Opener, type Sealer } from './datafile/encryption.ts'
import { DashkeepError } from './errors.ts'
import { defaultScanLimits, type ScanLimits } from './export/export-scanner.ts'
import type { Logger } from './log.ts'
import type { ServiceClient } from './service/client.ts'
import { ServiceError, type ServiceErrorCode } from './service/errors.ts'
import type { ObjectStore } from './store/object-store.ts'
import { openStore } from './store/open-store.ts'

/** A store that is open. Disposing closes it. */
export interface OpenedStore extends ObjectStore, AsyncDisposable {}

/** Opens the store of the archive that the configuration names. */
export async function openArchive(
  { store, findProxy }: Config,
  { env, log }: { env: Environment; log: Logger },
): Promise<OpenedStore> {
  if (store === undefined) throw new Error('loadConfig was not asked for a store')
  const opened = await openStore(store.url, {
    endpoint: store.endpoint,
    region: store.region,
    forcePathStyle: store.pathStyle,
    tagging: store.tags,
    lock: store.lock,
    encryption: store.encryption,
    caBundle: store.caBundle,
    findProxy,
    env: withProfile(env, store.profile),
    onRetry: ({ error, ...retry }) => log.warn({ ...retry, reason: error.message }, 'retrying'),
    onWarning: (reason) => log.warn({ reason }, 'the AWS SDK warns'),
  })
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

/** Opens a copy of the archive. Throws a `usage` error when the two are not apart. */
export async function openCopy(
  copy: StoreConfig & { readonly name: string },
  config: Config,
  { env, log }: { env: Environment; log: Logger },
): Promise<OpenedStore> {
  await refuseOverlap(copy, config.store)
  return openArchive({ ...config, store: copy }, { env, log: log.child({ copy: copy.name }) })
}

async function refuseOverlap(copy: StoreConfig, archive: StoreConfig | undefined): Promise<void> {
  const overlap = await findRealOverlap(copy, archive)
  if (overlap === undefined) return
  const state = {
    same: 'that is the archive itself',
    inside: 'it is inside the archive',
    around: 'it contains the archive',
  }[overlap]
  throw new DashkeepError(`Cannot use ${copy.url} as a copy: ${state}`, {
    kind: 'usage',
    hint: 'name a store that is not lost together with the archive',
  })
}

/** Compares addresses as `findOverlap` does, without the symbolic links in the paths of folders. */
export async function findRealOverlap(one: StoreConfig, archive: StoreConfig | undefined) {
  return archive && findOverlap(await resolveLinks(one), await resolveLinks(archive))
}

/** The same store, without symbolic links in the path of a folder. */
async function resolveLinks({ url, endpoint }: StoreConfig): Promise<StoreConfig> {
  if (!url.startsWith('file:') || !URL.canParse(url)) return { url, endpoint }
  return { url: pathToFileURL(await realPathOf(fileURLToPath(url))).href }
}

/** The path without symbolic links. The last folders of the path need not exist. */
async function realPathOf(path: string): Promise<string> {
  const parent = dirname(path)
  if (parent === path) return path
  return realpath(path).catch(async () => join(await realPathOf(parent), basename(path)))
}

/** The environment in which only the profile gives credentials. */
function withProfile(env: Environment, profile: string | undefined): Environment {
  if (profile === undefined) return env
  const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }
  return { ...env, ...none, AWS_SESSION_TOKEN: undefined, AWS_PROFILE: profile }
}

/** The limits for reading an export. */
export function scanLimitsOf({ limits }: Config): ScanLimits {
  return { ...defaultScanLimits, ...limits }
}

/** Creates the sealer for new files; undefined without encryption in the configuration. */
export async function sealEncryption(
  { encryption }: Config,
  env: Environment,
): Promise<Sealer | undefined> {
  if (encryption?.recipients) return createSealer({ recipients: encryption.recipients })
  if (!encryption?.passphrase) return undefined
  return createSealer({ passphrase: await readSecret(encryption.passphrase, env, 'passphrase') })
}

/** Creates the opener for encrypted files; undefined without a key in the configuration. */
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

/** Connects to an account's service. Reads the token again each time. */
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
  // Lazy: commands that read only the archive need no HTTP client.
  const { createServiceClient } = await import('./service/client.ts')
  return createServiceClient({
    baseUrl: account.baseUrl,
    pathPrefix: account.pathPrefix,
    importPath: config.importPath,
    proxy: config.findProxy(new URL(account.baseUrl)),
    token: await readSecret(account.token, env, 'token'),
    now,
    limits: config.limits,
    onRetry: ({ action, attempt, delayMs, error }) => {
      onRetry?.()
      const reason = error.message
      log.warn({ account: account.name, action, attempt, delayMs, reason }, 'retrying')
    },
  })
}

/** The source of an account's saved objects. The settings of sub accounts are one more type. */
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

/** The sub accounts of a main account, and the main account itself. */
export interface Management extends SubAccountService, AsyncDisposable {
  /** The account that the token belongs to. */
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
    checkOwner(main, account.accountId, { action: `use the token of ${account.name} for` })
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

/** Errors after which the service has certainly not carried out the request. */
const refusals: ReadonlySet<ServiceErrorCode> = new Set([
  'refused-token',
  'wrong-region',
  'no-endpoint',
  'unknown-account',
  'rejected',
  'redirected',
  'too-many-requests',
] as const)
