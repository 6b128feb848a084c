import type { S3Client } from '@aws-sdk/client-s3'
import type { HttpProxy } from '../../http/proxy.ts'
import { createRetrier, type FailedAttempt, type FailureWatch } from '../retrying.ts'
import { createClient, keepsChecksums } from './client.ts'
import { explainError, isTimeout, isTransient } from './errors.ts'
import type { ObjectLock, S3StoreOptions, ServerEncryption } from './options.ts'

/** What one call is about. */
export interface Call {
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
export interface Connection {
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
  call<T>(call: Call, send: (client: S3Client, options: SendOptions) => Promise<T>): Promise<T>
  /** The error for people; the reason itself when the caller's signal aborted. */
  explain(error: unknown, call: Call): unknown
  /** Begins to count the failures of something that is repeated outside `call`. */
  watchFailures(call: Call): FailureWatch
  close(): void
}

export interface SendOptions {
  readonly abortSignal: AbortSignal
  /** How long the answer may take to begin, in milliseconds. */
  readonly requestTimeout: number
}

/** The slowest connection on which a body under way is not taken for a server that hangs. */
export const minBytesPerMs = 96
const defaultRequestTimeoutMs = 60_000
const defaultIdleTimeoutMs = 30_000

/** Prepares the connection to a bucket. The first call opens it. */
export function connectToBucket(options: S3StoreOptions): Connection {
  const { bucket, prefix = '', retryDelayMs: delayMs, onRetry } = options
  const { requestTimeoutMs = defaultRequestTimeoutMs, idleTimeoutMs = defaultIdleTimeoutMs } =
    options
  const { client, proxyInUse } = createClient(options, { requestTimeoutMs })
  const retrier = createRetrier({ isTransient, isTimeout }, { delayMs })
  const root = prefix === '' ? '' : `${prefix}/`
  const url = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const targetOf = ({ key }: Call) => (key === undefined ? url : `${url}/${key}`)

  const explain = (error: unknown, call: Call) =>
    explainError(error, { ...options, ...call, target: targetOf(call) })

  const reportRetriesOf = (call: Call) => (failed: FailedAttempt) =>
    onRetry?.({
      ...failed,
      action: call.action,
      target: targetOf(call),
      error: explain(failed.error, call),
    })

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
    watchFailures: (call) => retrier.watch({ signal: call.signal, onRetry: reportRetriesOf(call) }),
    async call(call, send) {
      const { signal, bytes = 0 } = call
      const requestTimeout = requestTimeoutMs + bytes / minBytesPerMs
      const timeoutMs = requestTimeout + idleTimeoutMs
      try {
        return await retrier.send((abortSignal) => send(client, { abortSignal, requestTimeout }), {
          timeoutMs,
          signal,
          onRetry: reportRetriesOf(call),
        })
      } catch (error) {
        throw signal?.aborted ? signal.reason : explain(error, call)
      }
    },
    close: () => client.destroy(),
  }
}
