import { getCACertificates } from 'node:tls'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { Logger as SdkLogger } from '@aws-sdk/types'
import pRetry from 'p-retry'
import { type FindProxy, type HttpProxy, noProxy } from '../../http/proxy.ts'
import { startDeadline } from '../deadline.ts'
import { createCredentialProvider } from './credentials.ts'
import { explainS3Error, isTimeout, isTransient } from './errors.ts'
import { createS3Handler } from './handler.ts'
import type { AwsEnvironment } from './profile.ts'

/** Where a bucket is and how to reach it. */
export interface S3StoreOptions {
  readonly bucket: string
  /** What every key begins with in the bucket, without slashes around it. */
  readonly prefix?: string | undefined
  /** Default: `us-east-1` with an endpoint, where it rarely matters; else what the SDK finds. */
  readonly region?: string | undefined
  /** Address of a server other than AWS. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is part of the path. Default: when an endpoint is set. */
  readonly forcePathStyle?: boolean | undefined
  /** Whether the server keeps a SHA-256 of each object. Default: on AWS, and with a lock. */
  readonly checksums?: boolean | undefined
  /** Whether metadata is also set as object tags. */
  readonly tagging?: boolean | undefined
  /** Locks what is written with `lockFrom`; nothing is locked without it. */
  readonly lock?: ObjectLock | undefined
  /** Has the server encrypt everything that is written. */
  readonly encryption?: ServerEncryption | undefined
  /**
   * How long one request may take until its answer begins, the time to send a body aside; also how
   * long credentials may take.
   */
  readonly requestTimeoutMs?: number | undefined
  /** How long a body may pause. */
  readonly idleTimeoutMs?: number | undefined
  /** The first delay before a retry; it doubles, with a random part. */
  readonly retryDelayMs?: number | undefined
  /** Certificates in PEM of authorities that are trusted besides Node's. */
  readonly authorities?: string | undefined
  /** The proxy for an address; none by default. */
  readonly findProxy?: FindProxy | undefined
  /** Default: from the source that the environment names. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined
  /** The variables of AWS that say where credentials come from. Default: none. */
  readonly env?: AwsEnvironment | undefined
  /** Hears of each request that failed and will be repeated. */
  readonly onRetry?: ((retry: StoreRetry) => void) | undefined
  /** Hears what the SDK warns of. */
  readonly onWarning?: ((text: string) => void) | undefined
}

/** A request to the store failed and will be repeated: for the log. */
export interface StoreRetry {
  /** What is being done, as in "Cannot <action>". */
  readonly action: string
  /** The address of the object or the store. */
  readonly target: string
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number
  /** How long is waited before the next one. */
  readonly delayMs: number
  readonly error: Error
}

/** How long what is written with a lock stays locked. */
export interface ObjectLock {
  readonly mode: 'governance' | 'compliance'
  readonly durationMs: number
}

/** How the server encrypts objects; without a `keyId` by the bucket's own key. */
export interface ServerEncryption {
  readonly mode: 'sse-s3' | 'sse-kms'
  readonly keyId?: string | undefined
}

/** What one call is about. */
export interface S3Call {
  readonly action: string
  /** The object's key in the store; none when the call is about the bucket. */
  readonly key?: string
  readonly signal?: AbortSignal | undefined
  /** What the credentials must be allowed for it. */
  readonly rights: string
  /** How many bytes are sent; the server has more time for more of them. */
  readonly bytes?: number | undefined
}

/** A bucket, with retries, deadlines and explanations around every call. */
export interface S3Connection {
  readonly bucket: string
  readonly url: string
  readonly checksums: boolean
  readonly tagging: boolean
  readonly lock: ObjectLock | undefined
  readonly encryption: ServerEncryption | undefined
  readonly idleTimeoutMs: number
  /** The proxy that the last request was for; `undefined` when it was sent directly. */
  proxyInUse(): HttpProxy | undefined
  /** The key in the bucket, prefix included. */
  fullKey(key: string): string
  /** Sends a request, again while the failure is transient, and explains the last failure. */
  call<T>(call: S3Call, send: (client: S3Client, options: SendOptions) => Promise<T>): Promise<T>
  /** The error for people; the reason itself when the caller's signal aborted. */
  explain(error: unknown, call: S3Call): unknown
  /** Begins to count the failures of something that is repeated outside `call`. */
  watchFailures(call: S3Call): FailureWatch
  close(): void
}

export interface FailureWatch {
  /** Whether to try again after a failure, and tells of it if so. */
  mayRepeat(error: unknown): boolean
}

export interface SendOptions {
  readonly abortSignal: AbortSignal
  /** How long the answer may take to begin, in milliseconds. */
  readonly requestTimeout: number
}

const maxRetries = 4
/** A server that does not answer is asked less often than one that says why. */
const maxTimeouts = 3
/** The slowest connection on which a body under way is not taken for a server that hangs. */
export const minBytesPerMs = 96
const defaultRetryDelayMs = 500
const maxRetryDelayMs = 10_000
const defaultRequestTimeoutMs = 60_000
const defaultIdleTimeoutMs = 30_000
const connectionTimeoutMs = 10_000
const maxSockets = 16

/** Opens no connection yet: the first call does. */
export function connectToBucket(options: S3StoreOptions): S3Connection {
  const { bucket, prefix = '', retryDelayMs = defaultRetryDelayMs, onRetry } = options
  const { requestTimeoutMs = defaultRequestTimeoutMs, idleTimeoutMs = defaultIdleTimeoutMs } =
    options
  const logger = logWarnings(options.onWarning)
  const { requestHandler, proxyInUse } = createHandler(options, { requestTimeoutMs, logger })
  const config = clientConfig(options, { logger, requestTimeoutMs })
  const client = new S3Client({ ...config, requestHandler })
  const root = prefix === '' ? '' : `${prefix}/`
  const url = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const targetOf = ({ key }: S3Call) => (key === undefined ? url : `${url}/${key}`)

  const tellOf = (call: S3Call) => ({ action: call.action, target: targetOf(call) })

  const explain = (error: unknown, call: S3Call) =>
    explainS3Error(error, { ...options, ...call, target: targetOf(call) })

  return {
    bucket,
    url,
    checksums: keepsChecksums(options),
    tagging: options.tagging ?? false,
    lock: options.lock,
    encryption: options.encryption,
    idleTimeoutMs,
    proxyInUse,
    fullKey: (key) => root + key,
    explain: (error, call) => (call.signal?.aborted ? call.signal.reason : explain(error, call)),
    watchFailures(call) {
      const mayRepeat = createRetryJudge()
      let attempt = 0
      return {
        mayRepeat(error) {
          attempt += 1
          if (call.signal?.aborted || attempt > maxRetries || !mayRepeat(error)) return false
          onRetry?.({ ...tellOf(call), attempt, delayMs: 0, error: explain(error, call) })
          return true
        },
      }
    },
    async call(call, send) {
      const { signal, bytes = 0 } = call
      const requestTimeout = requestTimeoutMs + bytes / minBytesPerMs
      const attempt = (abortSignal: AbortSignal) => send(client, { abortSignal, requestTimeout })
      const options = {
        minTimeout: retryDelayMs,
        signal,
        onRetry: ({ error, ...retry }: FailedAttempt) =>
          onRetry?.({ ...tellOf(call), ...retry, error: explain(error, call) }),
      }
      try {
        const timeoutMs = requestTimeout + idleTimeoutMs
        return await retry(() => withDeadline(attempt, timeoutMs, signal), options)
      } catch (error) {
        throw signal?.aborted ? signal.reason : explain(error, call)
      }
    },
    close: () => client.destroy(),
  }
}

type FailedAttempt = Pick<StoreRetry, 'attempt' | 'delayMs' | 'error'>

async function retry<T>(
  attempt: () => Promise<T>,
  options: {
    minTimeout: number
    signal: AbortSignal | undefined
    onRetry: (failed: FailedAttempt) => void
  },
): Promise<T> {
  const { onRetry, ...times } = options
  const mayRepeat = createRetryJudge()
  return await pRetry(attempt, {
    ...times,
    retries: maxRetries,
    maxTimeout: maxRetryDelayMs,
    randomize: true,
    shouldRetry: ({ error, attemptNumber, retryDelay }) => {
      if (!mayRepeat(error)) return false
      onRetry({ attempt: attemptNumber, delayMs: retryDelay, error })
      return true
    },
  })
}

/** Says after each failure whether it may pass, and the server has not hung too often. */
function createRetryJudge(): (error: unknown) => boolean {
  let timeouts = 0
  return (error) => {
    if (isTimeout(error)) timeouts += 1
    return isTransient(error) && timeouts < maxTimeouts
  }
}

async function withDeadline<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  using deadline = startDeadline(timeoutMs, signal)
  try {
    return await attempt(deadline.signal)
  } catch (error) {
    throw deadline.signal.aborted ? deadline.signal.reason : error
  }
}

function clientConfig(
  options: S3StoreOptions,
  { logger, requestTimeoutMs }: { logger: SdkLogger; requestTimeoutMs: number },
): S3ClientConfig {
  const { endpoint, env = {} } = options
  const region = options.region ?? (endpoint === undefined ? undefined : 'us-east-1')
  const checksumMode = keepsChecksums(options) ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED'
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    credentials:
      options.credentials ?? createCredentialProvider(env, { logger, timeoutMs: requestTimeoutMs }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    requestChecksumCalculation: checksumMode,
    responseChecksumValidation: checksumMode,
    // Retrying is done around whole calls, so that reading a body is part of an attempt.
    maxAttempts: 1,
    // Many servers never answer the header, and the SDK opens a connection of its own for each.
    expectContinueHeader: false,
    logger,
  }
}

function createHandler(
  { authorities, findProxy = noProxy }: S3StoreOptions,
  { requestTimeoutMs, logger }: { requestTimeoutMs: number; logger: SdkLogger },
) {
  const ca = authorities && { ca: [...getCACertificates('default'), authorities] }
  const options = {
    requestTimeout: requestTimeoutMs,
    throwOnRequestTimeout: true,
    connectionTimeout: connectionTimeoutMs,
    // Without TLS a connection costs next to nothing, and Ceph answers at once only on a new one: it
    // sends an answer in two parts, the second of which its TCP keeps back until the first is
    // acknowledged, and a client that has been heard from takes 40 ms for that.
    httpAgent: { keepAlive: false, maxSockets },
    httpsAgent: { keepAlive: true, maxSockets, ...ca },
    logger,
  }
  return createS3Handler(options, findProxy)
}

/** What the SDK logs besides warnings holds whole requests. */
function logWarnings(onWarning: (text: string) => void = () => {}): SdkLogger {
  const silent = () => {}
  const warn = (...words: unknown[]) => onWarning(words.map(String).join(' '))
  return { trace: silent, debug: silent, info: silent, warn, error: silent }
}

/** A write with a lock needs a checksum: S3 refuses it without. */
function keepsChecksums({ endpoint, checksums, lock }: S3StoreOptions): boolean {
  return checksums ?? (lock !== undefined || endpoint === undefined || isAwsHost(endpoint))
}

function isAwsHost(endpoint: string): boolean {
  return /\.amazonaws\.com(\.cn)?$/.test(URL.parse(endpoint)?.hostname ?? '')
}
