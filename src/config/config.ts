import type { FindProxy } from '../http/proxy.ts'
import type { NotificationConfig } from './notifications.ts'
import type { Shard } from './shard.ts'

/** Where a secret comes from. A configuration never contains the secret itself. */
export type SecretSource = { readonly env: string } | { readonly file: string }

/** One account to back up. */
export interface AccountConfig {
  /** What people call it; unique within the configuration. */
  readonly name: string
  /** Regional base address of the service (specification, "Authentication"). */
  readonly baseUrl: string
  /** Stands before the unversioned paths, such as `/v1`; empty as specified. */
  readonly pathPrefix: string
  /** The account the token must belong to; a token of any other is refused. */
  readonly accountId: number | undefined
  readonly token: SecretSource
  /** What a snapshot holds besides saved objects. */
  readonly include?: readonly Inclusion[] | undefined
}

/** `sub-accounts`: the settings of the sub accounts, with the token of a main account. */
export type Inclusion = 'sub-accounts'

/** The whole configuration, with defaults and without secrets. */
export interface Config {
  readonly accounts: readonly AccountConfig[]
  /** The main account whose sub accounts are managed. */
  readonly management: AccountConfig | undefined
  /** Which part of the accounts this process backs up; all of them when undefined. */
  readonly shard: Shard | undefined
  readonly store: StoreConfig | undefined
  /** Where imports go, behind the path prefix; not in the specification. */
  readonly importPath: string
  readonly types: readonly string[]
  readonly compression: 'zstd' | 'gzip' | 'none'
  readonly guard: { readonly maxFall: number; readonly windowMs: number }
  readonly encryption: EncryptionConfig | undefined
  readonly retention: Retention | undefined
  readonly schedule: ScheduleConfig | undefined
  readonly worker: WorkerConfig
  readonly metrics: MetricsConfig
  readonly notifications: readonly NotificationConfig[]
  readonly limits: Limits
  readonly logLevel: LogLevel | undefined
  /** By the environment. A function, so that no proxy's password is ever printed. */
  readonly findProxy: FindProxy
}

/** Where the archive is. */
export interface StoreConfig {
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly pathStyle?: boolean | undefined
  /** A file of certificates in PEM, of authorities that are trusted besides Node's. */
  readonly caBundle?: string | undefined
  /** Whether files also carry their metadata as object tags. */
  readonly tags?: boolean | undefined
  /** How each file is locked by the server, from the moment its snapshot is taken. */
  readonly lock?:
    | { readonly mode: 'governance' | 'compliance'; readonly durationMs: number }
    | undefined
  /** How the server encrypts what it keeps. */
  readonly encryption?:
    | { readonly mode: 'sse-s3' | 'sse-kms'; readonly keyId?: string | undefined }
    | undefined
}

/** How files are encrypted, and with what they are read again. */
export interface EncryptionConfig {
  /** age recipients; a backup needs no private key. */
  readonly recipients?: readonly string[] | undefined
  /** Encrypts and decrypts, in place of recipients. */
  readonly passphrase?: SecretSource | undefined
  /** Private keys as age-keygen writes them, to read encrypted files. */
  readonly identity?: SecretSource | undefined
}

/** How many snapshots `prune` keeps: the newest of each period, up to a number of periods. */
export interface Retention {
  readonly last?: number | undefined
  readonly hourly?: number | undefined
  readonly daily?: number | undefined
  readonly weekly?: number | undefined
  readonly monthly?: number | undefined
  readonly yearly?: number | undefined
  readonly withinMs?: number | undefined
}

/** When the worker backs up, and how long that may take. */
export interface ScheduleConfig {
  /** Minute, hour, day of month, month, day of week, on the clocks of the time zone. */
  readonly cron: string
  readonly timeZone: string
  /** Longest random delay of a run, so that many workers do not start at once. */
  readonly jitterMs: number
  /** A run that takes longer is stopped and fails. */
  readonly deadlineMs: number
  /** Whether accounts are pruned by the retention after a run that was good for them. */
  readonly pruneAfter: boolean
}

/** Where the worker serves its state, and how it stops. */
export interface WorkerConfig {
  /** Where metrics and health are served, as `host:port`; nowhere when undefined. */
  readonly listen: string | undefined
  /** How long a run has to end after SIGTERM. */
  readonly graceMs: number
}

/** Where metrics go after a run. */
export interface MetricsConfig {
  /** A file for the textfile collector of node_exporter. */
  readonly textfile: string | undefined
  /** Address of a Pushgateway. */
  readonly pushgateway: string | undefined
}

/** Bounds of a run; times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Accounts backed up at once. */
  readonly accounts: number
  readonly connectTimeoutMs: number
  /** Longest wait for an answer to begin. */
  readonly headersTimeoutMs: number
  /** Longest pause within an answer. */
  readonly bodyTimeoutMs: number
  /** Longest time for a whole answer, the storing of an export included. */
  readonly answerTimeoutMs: number
  /** How often a request, or an export whose body broke off, is begun in all. */
  readonly attempts: number
  /** Wait before the second attempt; doubles each time, with a random part. */
  readonly retryBaseMs: number
  /** Largest export accepted, decoded. */
  readonly maxExportBytes: number
  /** Most objects accepted in one export, that is, of one type. */
  readonly maxObjects: number
  /** Largest hit accepted; a hit is the one thing held whole. */
  readonly maxHitBytes: number
  /** Largest difference between this machine's clock and the service's in a backup. */
  readonly maxClockSkewMs: number
  /** Largest request of a restore; an object that is larger goes alone. */
  readonly maxImportBytes: number
  /** Stored files up to this size in total are proven in each run that shares them. */
  readonly proveEachRunBytes: number
}

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** What the one account that the environment configures is called. */
export const soleAccountName = 'default'

/** Types exported unless others are configured (specification, section 4). */
export const defaultTypes = ['search', 'visualization', 'dashboard'] as const

/** Types that services are known to have; `query` is one of newer services. */
export const knownTypes: readonly string[] = [...defaultTypes, 'query']

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>
