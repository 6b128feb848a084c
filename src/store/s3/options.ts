import type { FindProxy } from '../../http/proxy.ts'
import type { StoreRetry } from '../retrying.ts'
import type { AwsEnvironment } from './profile.ts'

/** Options of an S3 store. */
export interface S3StoreOptions {
  readonly bucket: string
  /** Prefix of every key in the bucket, without outer slashes. */
  readonly prefix?: string | undefined
  /** Default: `us-east-1` with an endpoint, otherwise the region that the SDK finds. */
  readonly region?: string | undefined
  /** Address of a server other than AWS. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is part of the path. Default: when an endpoint is set. */
  readonly forcePathStyle?: boolean | undefined
  /** Whether the server stores a SHA-256 of each object. Default: on AWS, and with a lock. */
  readonly checksums?: boolean | undefined
  /** Whether metadata is also set as object tags. */
  readonly tagging?: boolean | undefined
  /** The lock of objects that are written with `lockFrom`. Without it, no object is locked. */
  readonly lock?: ObjectLock | undefined
  /** Encryption of new objects by the server. */
  readonly encryption?: ServerEncryption | undefined
  /**
   * Maximum time until the answer of a request begins, without the time to send a body. Also the maximum
   * time to get credentials.
   */
  readonly requestTimeoutMs?: number | undefined
  /** Maximum pause within a body. */
  readonly idleTimeoutMs?: number | undefined
  /** Wait before the first retry. Doubles each time and has a random part. */
  readonly retryDelayMs?: number | undefined
  /** PEM certificates of authorities to trust in addition to Node's. */
  readonly authorities?: string | undefined
  /** The proxy for an address; none by default. */
  readonly findProxy?: FindProxy | undefined
  /** Default: from the source in `env`. */
  readonly credentials?:
    | { readonly accessKeyId: string; readonly secretAccessKey: string }
    | undefined
  /** AWS environment variables with the source of the credentials. Default: none. */
  readonly env?: AwsEnvironment | undefined
  /** Called for each failed request that will be repeated. */
  readonly onRetry?: ((retry: StoreRetry) => void) | undefined
  /** Called with each warning of the SDK. */
  readonly onWarning?: ((text: string) => void) | undefined
}

/** Mode and duration of a lock. */
export interface ObjectLock {
  readonly mode: 'governance' | 'compliance'
  readonly durationMs: number
}

/** Encryption by the server. Without a `keyId`, the server uses the bucket's key. */
export interface ServerEncryption {
  readonly mode: 'sse-s3' | 'sse-kms'
  readonly keyId?: string | undefined
}
