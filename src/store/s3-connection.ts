import { getCACertificates } from 'node:tls'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { defaultProvider } from '@aws-sdk/credential-provider-node'
import pRetry from 'p-retry'
import { type FindProxy, type HttpProxy, noProxy } from '../http/proxy.ts'
import { startDeadline } from './deadline.ts'
import { explainS3Error, isTransient } from './s3-errors.ts'
import { createS3Handler } from './s3-handler.ts'

/** Where a bucket is and how to reach it. Reads no environment but the SDK's credential chain. */
export interface S3StoreOptions {
  readonly bucket: string
  /** What every key begins with in the bucket, without slashes around it. */
  readonly prefix?: string | undefined
  /** Default: what the SDK finds; `us-east-1` with an endpoint, where it rarely matters. */
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
  /** How long one request may take until its answer begins. */
  readonly requestTimeoutMs?: number | undefined
  /** How long a body may pause. */
  readonly idleTimeoutMs?: number | undefined
  /** The first delay before a retry; it doubles, with a random part. */
  readonly retryDelayMs?: number | undefined
  /** Certificates in PEM of authorities that are trusted besides Node's. */
  readonly authorities?: string | undefined
  /** The proxy for an address; none by default. */
  readonly findProxy?: FindProxy | undefined
  /** Default: the SDK's credential chain. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined
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
  /** What the credentials must be allowed, when it is more than every store needs. */
  readonly rights?: string | undefined
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
  close(): void
}

export interface SendOptions {
  readonly abortSignal: AbortSignal
}

const maxRetries = 4
const defaultRetryDelayMs = 500
const maxRetryDelayMs = 10_000
const defaultRequestTimeoutMs = 120_000
const defaultIdleTimeoutMs = 30_000
const connectionTimeoutMs = 10_000
const maxSockets = 16

/** Opens no connection yet: the first call does. */
export function connectToBucket(options: S3StoreOptions): S3Connection {
  const { bucket, prefix = '', retryDelayMs = defaultRetryDelayMs } = options
  const { requestTimeoutMs = defaultRequestTimeoutMs, idleTimeoutMs = defaultIdleTimeoutMs } =
    options
  const { requestHandler, proxyInUse } = createHandler(options, requestTimeoutMs)
  const client = new S3Client({
    ...clientConfig(options),
    requestHandler,
    // Without it the SDK asks for the credentials of an SSO session by connections of its own.
    credentialDefaultProvider: (init) =>
      defaultProvider({ ...init, clientConfig: { requestHandler } }),
  })
  const attemptTimeoutMs = requestTimeoutMs + idleTimeoutMs
  const root = prefix === '' ? '' : `${prefix}/`
  const url = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`

  const explain: S3Connection['explain'] = (error, { action, key, signal, rights }) => {
    if (signal?.aborted) return signal.reason
    const target = key === undefined ? url : `${url}/${key}`
    return explainS3Error(error, { action, target, bucket, rights })
  }

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
    explain,
    async call(call, send) {
      const attempt = (abortSignal: AbortSignal) => send(client, { abortSignal })
      try {
        return await retry(() => withDeadline(attempt, attemptTimeoutMs, call.signal), {
          minTimeout: retryDelayMs,
          signal: call.signal,
        })
      } catch (error) {
        throw explain(error, call)
      }
    },
    close: () => client.destroy(),
  }
}

async function retry<T>(
  attempt: () => Promise<T>,
  options: { minTimeout: number; signal: AbortSignal | undefined },
): Promise<T> {
  return await pRetry(attempt, {
    ...options,
    retries: maxRetries,
    maxTimeout: maxRetryDelayMs,
    randomize: true,
    shouldRetry: ({ error }) => isTransient(error),
  })
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

function clientConfig(options: S3StoreOptions): S3ClientConfig {
  const { endpoint, credentials } = options
  const region = options.region ?? (endpoint === undefined ? undefined : 'us-east-1')
  const checksumMode = keepsChecksums(options) ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED'
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    requestChecksumCalculation: checksumMode,
    responseChecksumValidation: checksumMode,
    // Retrying is done around whole calls, so that reading a body is part of an attempt.
    maxAttempts: 1,
    // Many servers never answer the header, and the SDK opens a connection of its own for each.
    expectContinueHeader: false,
  }
}

function createHandler(
  { authorities, findProxy = noProxy }: S3StoreOptions,
  requestTimeout: number,
) {
  const ca = authorities && { ca: [...getCACertificates('default'), authorities] }
  const options = {
    requestTimeout,
    throwOnRequestTimeout: true,
    connectionTimeout: connectionTimeoutMs,
    // Without TLS a connection costs next to nothing, and Ceph answers at once only on a new one: it
    // sends an answer in two parts, the second of which its TCP keeps back until the first is
    // acknowledged, and a client that has been heard from takes 40 ms for that.
    httpAgent: { keepAlive: false, maxSockets },
    httpsAgent: { keepAlive: true, maxSockets, ...ca },
  }
  return createS3Handler(options, findProxy)
}

/** A write with a lock needs a checksum: S3 refuses it without. */
function keepsChecksums({ endpoint, checksums, lock }: S3StoreOptions): boolean {
  return checksums ?? (lock !== undefined || endpoint === undefined || isAwsHost(endpoint))
}

function isAwsHost(endpoint: string): boolean {
  return /\.amazonaws\.com(\.cn)?$/.test(URL.parse(endpoint)?.hostname ?? '')
}
