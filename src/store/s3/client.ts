import { getCACertificates } from 'node:tls'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import type { Logger as SdkLogger } from '@aws-sdk/types'
import { type HttpProxy, noProxy } from '../../http/proxy.ts'
import { createCredentialProvider } from './credentials.ts'
import { createHandler } from './handler.ts'
import type { S3StoreOptions } from './options.ts'

const connectionTimeoutMs = 10_000
const maxSockets = 16

/** Creates the SDK's client. It sends each request once. `proxyInUse` returns the proxy of the last request. */
export function createClient(
  options: S3StoreOptions,
  { requestTimeoutMs }: { requestTimeoutMs: number },
): { client: S3Client; proxyInUse: () => HttpProxy | undefined } {
  const logger = logWarnings(options.onWarning)
  const { requestHandler, proxyInUse } = openHandler(options, { requestTimeoutMs, logger })
  const config = clientConfig(options, { logger, requestTimeoutMs })
  return { client: new S3Client({ ...config, requestHandler }), proxyInUse }
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
    // `Connection.call` retries, so that reading a body is part of an attempt.
    maxAttempts: 1,
    // Many servers ignore this header, and the SDK opens a separate connection for it.
    expectContinueHeader: false,
    logger,
  }
}

function openHandler(
  { authorities, findProxy = noProxy }: S3StoreOptions,
  { requestTimeoutMs, logger }: { requestTimeoutMs: number; logger: SdkLogger },
) {
  const ca = authorities && { ca: [...getCACertificates('default'), authorities] }
  const options = {
    requestTimeout: requestTimeoutMs,
    throwOnRequestTimeout: true,
    connectionTimeout: connectionTimeoutMs,
    // Without TLS, a new connection is cheap and faster than a used one: Ceph sends an answer in two
    // packets, and on a used connection the second waits 40 ms for the client's acknowledgement.
    httpAgent: { keepAlive: false, maxSockets },
    httpsAgent: { keepAlive: true, maxSockets, ...ca },
    logger,
  }
  return createHandler(options, findProxy)
}

/** Forwards only warnings: other logs of the SDK contain whole requests. */
function logWarnings(onWarning: (text: string) => void = () => {}): SdkLogger {
  const silent = () => {}
  const warn = (...words: unknown[]) => onWarning(words.map(String).join(' '))
  return { trace: silent, debug: silent, info: silent, warn, error: silent }
}

/** Whether requests have a SHA-256 checksum. S3 requires one for a write with a lock. */
export function keepsChecksums({ endpoint, checksums, lock }: S3StoreOptions): boolean {
  return checksums ?? (lock !== undefined || endpoint === undefined || isAwsHost(endpoint))
}

function isAwsHost(endpoint: string): boolean {
  return /\.amazonaws\.com(\.cn)?$/.test(URL.parse(endpoint)?.hostname ?? '')
}
