import { DashkeepError } from '../errors.ts'
import type { HttpProxy } from '../http/proxy.ts'
import { readAcknowledgement, readAs, readExport } from './answer.ts'
import { ServiceError } from './errors.ts'
import { type ImportAnswer, importPath, type ObjectImport } from './import.ts'
import { defaultServiceLimits, type ServiceLimits } from './limits.ts'
import {
  createOperation,
  exportOperation,
  importOperation,
  listOperation,
  type Operation,
  replaceOperation,
  whoamiOperation,
} from './operation.ts'
import { type Explaining, hiddenRefusal } from './refusal.ts'
import { type RetryEvent, withRetries } from './retry.ts'
import { createSanitizer } from './sanitize.ts'
import {
  accountSchema,
  createdSubAccountSchema,
  importAnswerSchema,
  subAccountsSchema,
} from './schema.ts'
import type {
  CreatedSubAccount,
  NewSubAccount,
  SubAccount,
  SubAccountSettings,
} from './sub-account.ts'
import { type Answer, createTransport } from './transport.ts'

export { DashkeepError } from '../errors.ts'
export { ServiceError, type ServiceErrorCode } from './errors.ts'
export type { ImportAnswer, ObjectImport } from './import.ts'
export { defaultServiceLimits, type ServiceLimits } from './limits.ts'
export type { RetryEvent } from './retry.ts'
export type {
  CreatedSubAccount,
  FurtherSettings,
  NewSubAccount,
  SharingAccount,
  SubAccount,
  SubAccountSettings,
  UtilizationSettings,
} from './sub-account.ts'

/** Options of every call. The signal ends requests and waits at once, with its own reason. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The remote service, with one token. Every failure is a `ServiceError` with a hint. The client has
 * already repeated transient failures, except a create that may have happened.
 */
export interface ServiceClient extends AsyncDisposable {
  /** The base address. Contains no secret. */
  readonly address: string
  /**
   * How far the service's clock is ahead of this machine's, by the last valid `Date` header. Precise
   * to about a second; negative when behind, undefined before the first such header.
   */
  readonly clockSkewMs: number | undefined

  /** Returns the account of the token (specification, section 5). */
  whoami(options?: CallOptions): Promise<{ accountId: number; accountName: string }>

  /**
   * Starts the export of every saved object of one type (specification, section 4) and returns its
   * body after content decoding. Throws for a refusal, whatever its status. An incomplete body throws a
   * transient error during the iteration: the caller repeats the whole export. The connection stays in
   * use until the iteration ends.
   */
  exportObjects(type: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>

  /**
   * Throws when an export also reports an error, such as failed shards. `members` are the members of
   * the whole document; `hits` is ignored. `exportObjects` has checked a body of up to 64 KiB. The
   * members of a longer body are known only at its end.
   */
  checkMembers(type: string, members: Readonly<Record<string, unknown>>): void

  /**
   * Imports objects (not in the specification; deployed services accept their own exports). With
   * `override`, existing objects are replaced; without it, they stay unchanged. A repeated import has
   * the same effect, so a request without an answer is repeated like any other.
   *
   * After a repetition the answer may say `updated` or `ignored` for an object that the first request
   * created: only a new export shows the result. Does not throw when `failed` is not empty.
   */
  importObjects(batch: ObjectImport, options?: CallOptions): Promise<ImportAnswer>

  /**
   * Throws when the service has no endpoint for imports. Sends an empty import. Any answer except
   * "not found" means that the endpoint exists.
   */
  checkImports(kibanaVersion: string, options?: CallOptions): Promise<void>

  /** Lists the sub accounts of the token's main account (specification, section 2). */
  listSubAccounts(options?: CallOptions): Promise<SubAccount[]>

  /**
   * Creates a sub account (specification, section 1). A request that was sent is never repeated. After
   * an unclear failure, list the sub accounts first.
   */
  createSubAccount(account: NewSubAccount, options?: CallOptions): Promise<CreatedSubAccount>

  /** Replaces every setting of a sub account (specification, section 3). */
  replaceSubAccount(
    accountId: number,
    settings: SubAccountSettings,
    options?: CallOptions,
  ): Promise<void>

  /** Ends all connections and requests at once. */
  close(): Promise<void>
}

/** Options of a client. */
export interface ServiceClientOptions {
  readonly baseUrl: string
  readonly token: string
  /** Prefix of the unversioned paths, such as `/v1`; none by default. */
  readonly pathPrefix?: string | undefined
  /** Path of imports, after the prefix; `/kibana/import` by default. */
  readonly importPath?: string | undefined
  readonly limits?: Partial<ServiceLimits> | undefined
  /** The proxy for all requests; none by default. */
  readonly proxy?: HttpProxy | undefined
  /** The clock to compare with the service's clock; this machine's by default. */
  readonly now?: (() => Date) | undefined
  /** Called for each failed request that will be repeated. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
}

/**
 * Creates a client of the service at one base address. Sends nothing before the first call. Throws a
 * `usage` error for an invalid base address, prefix or token.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const baseUrl = parseBaseUrl(options.baseUrl)
  const prefix = parsePathPrefix(options.pathPrefix ?? '')
  const importingPath = parsePathPrefix(options.importPath ?? importPath)
  const token = parseToken(options.token)
  const limits = { ...defaultServiceLimits, ...options.limits }
  const address = baseUrl.href.replace(/\/+$/, '')
  const sanitize = createSanitizer(token)
  const now = options.now ?? (() => new Date())
  const { proxy } = options
  const transport = createTransport(baseUrl, { token, address, limits, proxy, sanitize, now })

  function call<T>(operation: Operation, read: Read<T>, { signal }: CallOptions = {}): Promise<T> {
    const maxBytes = operation.name === 'export' ? limits.maxExportBytes : maxAnswerBytes
    const attempt = async () => {
      const answer = await transport.send(operation, { maxBytes, signal })
      return read(answer, { operation, address, sanitize })
    }
    return withRetries(operation, attempt, { limits, onRetry: options.onRetry, signal })
  }

  const importObjects: ServiceClient['importObjects'] = (batch, how) => {
    const operation = importOperation(prefix, { path: importingPath, batch })
    return call(operation, readAs(importAnswerSchema), how)
  }

  return {
    address,
    get clockSkewMs() {
      return transport.clockSkewMs
    },
    whoami: (how) => call(whoamiOperation(), readAs(accountSchema), how),
    exportObjects: (type, how) => call(exportOperation(prefix, type), readExport, how),
    checkMembers(type, members) {
      const operation = exportOperation(prefix, type)
      const json = { ...members, hits: [] }
      const reply = { status: 200, header: () => undefined, text: JSON.stringify(json), json }
      const refusal = hiddenRefusal(reply, { operation, address, sanitize })
      if (refusal) throw refusal
    },
    importObjects,
    async checkImports(kibanaVersion, how) {
      try {
        await importObjects({ kibanaVersion, override: false, hits: [] }, how)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code === 'no-endpoint') throw error
      }
    },
    listSubAccounts: (how) => call(listOperation(prefix), readAs(subAccountsSchema), how),
    createSubAccount: (account, how) =>
      call(createOperation(prefix, account), readAs(createdSubAccountSchema), how),
    replaceSubAccount: async (accountId, settings, how) =>
      call(replaceOperation(prefix, accountId, settings), readAcknowledgement, how),
    close: transport.close,
    [Symbol.asyncDispose]: transport.close,
  }
}

type Read<T> = (answer: Answer, explaining: Explaining) => Promise<T>

/** Maximum size of all other answers. Enough for a list of many thousand sub accounts. */
const maxAnswerBytes = 16 * 1024 ** 2

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw usageError(
      'Cannot use the base address: it is not an http or https URL',
      'use a full address such as https://api.example.com',
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usageError(
      `Cannot use the base address of ${url.host}: it contains more than scheme, host, port and path`,
      'leave out user, password, query and fragment; the token has its own setting',
    )
  }
  return url
}

function parsePathPrefix(text: string): string {
  const prefix = text.replace(/^\/+|\/+$/g, '')
  if (prefix === '') return ''
  if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(prefix)) return `/${prefix}`
  throw usageError(
    'Cannot use the path prefix: it is not a path',
    'use a path such as /v1, or leave it out',
  )
}

function parseToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageError(
    token === ''
      ? 'Cannot use the API token: it is empty'
      : 'Cannot use the API token: it contains characters that a token cannot have',
    'look for a line break, a space or a non-ASCII character that was copied with it',
  )
}

function usageError(message: string, hint: string): DashkeepError {
  return new DashkeepError(message, { kind: 'usage', hint })
}
