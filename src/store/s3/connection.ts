import type { S3Client } from '@aws-sdk/client-s3'
import type { HttpProxy } from '../../http/proxy.ts'
import { createRetrier, type FailedAttempt, type FailureWatch } from '../retrying.ts'
import { createClient, keepsChecksums } from './client.ts'
import { explainError, isTimeout, isTransient } from './errors.ts'
import type { ObjectLock, S3StoreOptions, ServerEncryption } from './options.ts'

/** Description of a call, for messages and limits. */
export interface Call {
  readonly action: string
  /** The object's key in the store; undefined for a call about the bucket. */
  readonly key?: string
  readonly signal?: AbortSignal | undefined
  /** The permissions that the call needs. */
  readonly rights: string
  /** Number of bytes sent. More bytes allow more time. */
  readonly bytes?: number | undefined
}

/** The connection to a bucket. Adds retries, deadlines and explained errors to every call. */
export interface Connection {
  readonly bucket: string
  readonly url: string
  readonly checksums: boolean
  readonly tagging: boolean
  readonly lock: ObjectLock | undefined
  readonly encryption: ServerEncryption | undefined
  readonly idleTimeoutMs: number
  /** The proxy of the last request; `undefined` for a direct request. */
  proxyInUse(): HttpProxy | undefined
  /** The key in the bucket, with the prefix. */
  fullKey(key: string): string
  /** Sends a request, repeats it after transient failures, and explains the last failure. */
  call<T>(call: Call, send: (client: S3Client, options: SendOptions) => Promise<T>): Promise<T>
  /** Explains an error; returns the signal's reason when it has aborted. */
  explain(error: unknown, call: Call): unknown
  /** Counts the failures of an operation that is repeated outside `call`. */
  watchFailures(call: Call): FailureWatch
  close(): void
}

/** Limits of one request. */
export interface SendOptions {
  readonly abortSignal: AbortSignal
  /** Maximum time until the answer begins, in milliseconds. */
  readonly requestTimeout: number
}

/** Minimum speed of a body. A slower body counts as a hanging server. */
export const minBytesPerMs = 96
const defaultRequestTimeoutMs = 60_000
const defaultIdleTimeoutMs = 30_000

/** Creates the connection to a bucket. The first call opens it. */
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
