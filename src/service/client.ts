import { DashkeepError } from '../errors.ts'
import type { ConnectionLimits } from '../http/limits.ts'
import type { HttpProxy } from '../http/proxy.ts'
import { readAcknowledgement, readAs, readExport } from './answer.ts'
import { ServiceError } from './errors.ts'
import { type ImportAnswer, importPath, type ObjectImport } from './import.ts'
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
import { type RetryEvent, type RetryLimits, withRetries } from './retry.ts'
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

/** Limits of one client; {@link defaultServiceLimits} are what is not given. */
export interface ServiceLimits extends ConnectionLimits, RetryLimits {
  /** From the request to the end of the answer's body, slow readers of it included. */
  readonly answerTimeoutMs: number
  /** The most that one export may hold after decoding; a compressed bomb ends there. */
  readonly maxExportBytes: number
}

/** Long enough for an export that the service prepares for minutes. */
export const defaultServiceLimits: ServiceLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 120_000,
  bodyTimeoutMs: 60_000,
  concurrency: 3,
  attempts: 4,
  retryBaseMs: 500,
  retryMaxMs: 30_000,
  maxRetryAfterMs: 120_000,
  answerTimeoutMs: 3600_000,
  maxExportBytes: 4 * 1024 ** 3,
}

/** What every call takes: a signal that ends it at once, waits included, with its own reason. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The remote service, by one token. Every failure is a `ServiceError` with a hint; what is
 * transient has been repeated before, except a create that may have happened.
 */
export interface ServiceClient extends AsyncDisposable {
  /** The base address, without anything secret. */
  readonly address: string
  /**
   * How far the service's clock was ahead of this machine's at the last answer that had a valid
   * `Date`, to about a second; negative when behind, undefined before the first such answer.
   */
  readonly clockSkewMs: number | undefined

  /** Says whom the token belongs to (specification, section 5). */
  whoami(options?: CallOptions): Promise<{ accountId: number; accountName: string }>

  /**
   * Begins the export of every saved object of one type (specification, section 4) and returns its
   * body after content decoding. A refusal throws here, under whatever status. A body that breaks
   * off throws from the iteration, as transient: the caller repeats the whole export.
   * The connection is held until the body has been read or left, the signal or `close` ends it.
   */
  exportObjects(type: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>

  /**
   * Throws when an export reports an error beside its hits, such as failed shards. `members` are
   * those of the whole document; of `hits` nothing is read. A body of up to 64 KiB has been checked
   * by `exportObjects`; all members of a longer one are known only after it is read to its end.
   */
  checkMembers(type: string, members: Readonly<Record<string, unknown>>): void

  /**
   * Gives objects back to the service (not in the specification; deployed services take their own
   * exports). Each ends as it was sent or, without `override`, stays as it is there: a second time
   * changes nothing that the first did, so that a request whose answer was lost is repeated as any
   * other. Only the words of the answer may differ then (`updated` or `ignored` for what the lost
   * request created), and another's change of the same moment may be overwritten with `override`:
   * what has become of the objects is for a fresh export to say. Status 200 may come with a
   * `failed` that is not empty, which throws nothing.
   */
  importObjects(batch: ObjectImport, options?: CallOptions): Promise<ImportAnswer>

  /**
   * Throws when the service has no endpoint for imports. It imports nothing: whatever else a service
   * answers to that, it has the endpoint, and the first import says what is wrong.
   */
  checkImports(kibanaVersion: string, options?: CallOptions): Promise<void>

  /** Lists the sub accounts of the token's main account (specification, section 2). */
  listSubAccounts(options?: CallOptions): Promise<SubAccount[]>

  /**
   * Creates a sub account (specification, section 1). Never repeated once anything was sent:
   * after an unclear end, list the sub accounts first.
   */
  createSubAccount(account: NewSubAccount, options?: CallOptions): Promise<CreatedSubAccount>

  /** Replaces every setting of a sub account (specification, section 3). */
  replaceSubAccount(
    accountId: number,
    settings: SubAccountSettings,
    options?: CallOptions,
  ): Promise<void>

  /** Ends every connection at once, requests under way included. */
  close(): Promise<void>
}

/** What a client is made of. */
export interface ServiceClientOptions {
  readonly baseUrl: string
  readonly token: string
  /** Goes before the unversioned paths, such as `/v1`; none by default. */
  readonly pathPrefix?: string | undefined
  /** Where imports go, behind the prefix; `/kibana/import` by default. */
  readonly importPath?: string | undefined
  readonly limits?: Partial<ServiceLimits> | undefined
  /** The proxy that every request goes through; none by default. */
  readonly proxy?: HttpProxy | undefined
  /** The clock that the service's is compared with; this machine's by default. */
  readonly now?: (() => Date) | undefined
  /** Called for every failure that leads to another attempt. */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined
}

/**
 * Makes a client of the service at one base address. Nothing is sent before the first call; a base
 * address, prefix or token that can never work is refused here.
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

/** The most that anything but an export may hold: a list of many thousand sub accounts. */
const maxAnswerBytes = 16 * 1024 ** 2

function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw usageError(
      'Cannot use the base address: it is not an http or https URL',
      'Give it in full, such as https://api.example.com.',
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usageError(
      `Cannot use the base address of ${url.host}: it contains more than scheme, host, port and path`,
      'Leave out user, password, query and fragment; the token goes into its own setting.',
    )
  }
  return url
}

function parsePathPrefix(text: string): string {
  const prefix = text.replace(/^\/+|\/+$/g, '')
  if (prefix === '') return ''
  if (/^[\w.~-]+(\/[\w.~-]+)*$/.test(prefix)) return `/${prefix}`
  throw usageError('Cannot use the path prefix: it is not a path', 'Use one such as /v1, or none.')
}

function parseToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageError(
    token === ''
      ? 'Cannot use the API token: it is empty'
      : 'Cannot use the API token: it contains characters that a token cannot have',
    'Look for a line break, a blank or a character beyond ASCII that was copied with it.',
  )
}

function usageError(message: string, hint: string): DashkeepError {
  return new DashkeepError(message, { kind: 'usage', hint })
}
