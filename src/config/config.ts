import type { RetentionPolicy } from '../archive/retention.ts'
import type { FindProxy } from '../http/proxy.ts'
import type { NotificationConfig } from './notifications.ts'
import type { Shard } from './shard.ts'

/** Where a secret comes from. A configuration never contains the secret itself. */
export type SecretSource = { readonly env: string } | { readonly file: string }

/** One account to back up. */
export interface AccountConfig {
  /** The user's name for the account; unique within the configuration. */
  readonly name: string
  /** Regional base address of the service (specification, "Authentication"). */
  readonly baseUrl: string
  /** Prefix of the unversioned paths, such as `/v1`; empty by default. */
  readonly pathPrefix: string
  /** Id of the account that the token must belong to. A token of another account is refused. */
  readonly accountId: number | undefined
  readonly token: SecretSource
  /** What a snapshot contains in addition to saved objects. */
  readonly include?: readonly Inclusion[] | undefined
}

/** `sub-accounts`: the settings of the sub accounts. Needs the token of a main account. */
type Inclusion = 'sub-accounts'

/** The whole configuration, with defaults and without secrets. */
export interface Config {
  readonly accounts: readonly AccountConfig[]
  /** The main account whose sub accounts are managed. */
  readonly management: AccountConfig | undefined
  /** The part of the accounts that this process backs up; undefined for all accounts. */
  readonly shard: Shard | undefined
  readonly store: StoreConfig | undefined
  /** Stores that hold a copy of the archive; none when `--store` names another archive. */
  readonly copies: readonly CopyConfig[]
  /** All stores that are configured, by name: the archive and its copies, whatever `--store` names. */
  readonly stores: readonly CopyConfig[]
  /** Where objects are committed to git after a run; undefined without that. */
  readonly git: GitConfig | undefined
  /** Path of imports, after the path prefix. The specification does not contain it. */
  readonly importPath: string
  readonly types: readonly string[]
  readonly compression: 'zstd' | 'gzip' | 'none'
  readonly guard: { readonly maxFall: number; readonly windowMs: number }
  readonly encryption: EncryptionConfig | undefined
  readonly retention: RetentionPolicy | undefined
  readonly schedule: ScheduleConfig | undefined
  readonly worker: WorkerConfig
  readonly metrics: MetricsConfig
  readonly notifications: readonly NotificationConfig[]
  readonly limits: Limits
  readonly logLevel: LogLevel | undefined
  /** Finds the proxy for an address. It is a function so that no password of a proxy is printed. */
  readonly findProxy: FindProxy
}

/** The store of an archive. */
export interface StoreConfig {
  /** `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string
  readonly endpoint?: string | undefined
  readonly region?: string | undefined
  readonly pathStyle?: boolean | undefined
  /** The AWS profile that is used in place of the environment's credentials. */
  readonly profile?: string | undefined
  /** A PEM file of certificate authorities to trust in addition to those of Node. */
  readonly caBundle?: string | undefined
  /** Whether files also carry their metadata as object tags. */
  readonly tags?: boolean | undefined
  /** How the server locks each file. The duration begins when the snapshot is taken. */
  readonly lock?:
    | { readonly mode: 'governance' | 'compliance'; readonly durationMs: number }
    | undefined
  /** How the server encrypts files. */
  readonly encryption?:
    | { readonly mode: 'sse-s3' | 'sse-kms'; readonly keyId?: string | undefined }
    | undefined
}

/** A store that holds a copy of the archive. */
export interface CopyConfig extends StoreConfig {
  readonly name: string
  /** Whether `copy` leaves out snapshots that are older than the newest one of the copy. */
  readonly newerOnly?: boolean | undefined
  /** After a run, a copy that takes longer is stopped. The next run continues. */
  readonly deadlineMs: number
}

/** The commits to git after a run. */
export interface GitConfig {
  /** A folder in a repository. Each account has a subfolder with its id. */
  readonly folder: string
  readonly push: boolean
  /** Commits that take longer are stopped. The next run continues. */
  readonly deadlineMs: number
}

/** How files are encrypted and decrypted. */
interface EncryptionConfig {
  /** age recipients; a backup needs no private key. */
  readonly recipients?: readonly string[] | undefined
  /** A passphrase that encrypts and decrypts, in place of recipients. */
  readonly passphrase?: SecretSource | undefined
  /** Private keys as age-keygen writes them, to read encrypted files. */
  readonly identity?: SecretSource | undefined
}

/** When the worker runs backups, and how long a run may take. */
export interface ScheduleConfig {
  /** Cron expression: minute, hour, day of month, month, day of week, in the time zone. */
  readonly cron: string
  readonly timeZone: string
  /** Longest random delay of a run, so that many workers do not start at once. */
  readonly jitterMs: number
  /** A run that takes longer is stopped and fails. */
  readonly deadlineMs: number
  /** Whether the worker prunes an account by `retention` after a good run. */
  readonly pruneAfter: boolean
}

/** Address and stop time of the worker. */
interface WorkerConfig {
  /** Address for metrics and health, as `host:port`; undefined when they are not served. */
  readonly listen: string | undefined
  /** Time that a run has to end after SIGTERM. */
  readonly graceMs: number
}

/** Receivers of metrics after a run. */
interface MetricsConfig {
  /** A file for the textfile collector of node_exporter. */
  readonly textfile: string | undefined
  /** Address of a Pushgateway. */
  readonly pushgateway: string | undefined
}

/** Limits of a run; times in milliseconds, sizes in bytes. */
export interface Limits {
  /** Number of accounts that are backed up at the same time. */
  readonly accounts: number
  readonly connectTimeoutMs: number
  /** Longest wait for an answer to begin. */
  readonly headersTimeoutMs: number
  /** Longest pause within an answer. */
  readonly bodyTimeoutMs: number
  /** Longest time for a whole answer, including the time to store an export. */
  readonly answerTimeoutMs: number
  /** Number of attempts for a request, or for an export that broke off. */
  readonly attempts: number
  /** Pause before the second attempt. It doubles with each further attempt and has a random part. */
  readonly retryBaseMs: number
  /** Largest accepted export, decoded. */
  readonly maxExportBytes: number
  /** Maximum number of objects in one export, that is, of one type. */
  readonly maxObjects: number
  /** Largest accepted hit. A hit is held in memory as a whole. */
  readonly maxHitBytes: number
  /** Largest accepted difference between this machine's clock and the service's in a backup. */
  readonly maxClockSkewMs: number
  /** Largest request of a restore. A larger object is sent alone. */
  readonly maxImportBytes: number
  /** Total size of shared files that each run proves. Larger files are proven every seven days. */
  readonly proveEachRunBytes: number
}

/** Levels of the log, from the most lines to none. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** A level of the log. Lines of lower levels are left out. */
export type LogLevel = (typeof logLevels)[number]

/** The name by which `--to` and `--store` take the configured archive. */
export const archiveName = 'archive'

/** Name of the one account that the environment configures. */
export const soleAccountName = 'default'

/** Types that are exported by default (specification, section 4). */
export const defaultTypes = ['search', 'visualization', 'dashboard'] as const

/** Types that services have; `query` only exists in newer services. */
export const knownTypes: readonly string[] = [...defaultTypes, 'query']

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>
