import type { FindProxy } from '../../http/proxy.ts'
import type { StoreRetry } from '../retrying.ts'
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
  /** Called for each request that failed and will be repeated. */
  readonly onRetry?: ((retry: StoreRetry) => void) | undefined
  /** Called with each warning of the SDK. */
  readonly onWarning?: ((text: string) => void) | undefined
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
