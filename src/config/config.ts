import { z } from 'zod'
import type { FindProxy } from '../http/proxy.ts'
import type { Shard } from '../shard.ts'
import { durationPattern, parseDuration } from './duration.ts'

/** Where a secret comes from. The secret itself never stands in a configuration. */
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

/** Everything dashkeep is told, with defaults filled in and no secret in it. */
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
  /** A run begins up to so much later, by chance, so that a fleet does not strike at once. */
  readonly jitterMs: number
  /** A run that takes longer is ended and has failed. */
  readonly deadlineMs: number
  /** Whether accounts are pruned by the retention after a run that was good for them. */
  readonly pruneAfter: boolean
}

/** How the worker shows itself and stops. */
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

/** What a run can bring that somebody wants to hear of, what is worst first. */
export const runEvents = ['failure', 'suspect', 'recovery', 'success', 'change'] as const
export type RunEvent = (typeof runEvents)[number]

/** Somebody to tell how runs go. The address is a secret: whoever has it can write there. */
export type NotificationConfig =
  | {
      readonly kind: 'webhook' | 'slack'
      readonly url: SecretSource
      readonly on: readonly RunEvent[]
    }
  | {
      readonly kind: 'ping'
      readonly url: SecretSource
      /** Whether a run that was not good pings `/<exit status>` instead of `/fail`. */
      readonly exitStatus: boolean
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

const name = z.string().regex(/^[\w][\w .-]{0,99}$/, 'expected letters, digits, space and . _ -')
const url = z
  .url({ protocol: /^https?$/, error: 'expected an http:// or https:// address' })
  .refine(isPlainAddress, 'expected an address without user, password, query and fragment')
const pathPrefix = z
  .string()
  .regex(/^((\/[\w.~-]+)+)?$/, 'expected a path such as /v1, without a slash at its end')
const type = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, 'expected a type such as dashboard')
const storeUrl = z
  .string()
  .regex(/^(s3:\/\/[^/@]+(\/|$)|file:\/\/\/.)/, 'expected s3://bucket/prefix or file:///folder')
const listenForm = 'expected host:port such as 0.0.0.0:9090, or false'
const listenPattern = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/
const positive = z.int().positive()
const duration = z.string().regex(durationPattern, 'expected a duration such as 30d or 26h')
const secretSource = z.union(
  [
    z.strictObject({ env: z.string().regex(/^[A-Za-z_]\w*$/) }),
    z.strictObject({ file: z.string().min(1) }),
  ],
  { error: 'expected env: NAME_OF_VARIABLE or file: /path, never the token itself' },
)

/** Types whose files, without compression, would have the names of the archive's own files. */
const reservedTypes: ReadonlySet<string> = new Set(['manifest', 'damaged'])

export const fileSchema = z
  .strictObject({
    service: z
      .strictObject({
        baseUrl: url.optional().describe('Base address of accounts that name none'),
        pathPrefix: pathPrefix.optional().describe('Path prefix of accounts that name none'),
        importPath: pathPrefix
          .optional()
          .describe('Where a restore sends objects, behind the prefix; /kibana/import by default'),
      })
      .optional()
      .describe('What the accounts have in common'),
    accounts: z
      .array(
        z.strictObject({
          name: name.describe('What people call the account'),
          baseUrl: url.optional().describe('Regional base address of the service'),
          pathPrefix: pathPrefix
            .optional()
            .describe('Stands before the unversioned paths, such as /v1'),
          accountId: z.int().optional().describe('The account the token must belong to'),
          token: secretSource.describe('Where the API token comes from'),
          include: z
            .array(z.literal('sub-accounts'))
            .max(1)
            .optional()
            .describe('Also keep the settings of its sub accounts; the token of a main account'),
        }),
      )
      .min(1)
      .optional()
      .describe('The accounts to back up'),
    management: z
      .strictObject({
        baseUrl: url.optional().describe('Regional base address of the service'),
        pathPrefix: pathPrefix.optional(),
        accountId: z.int().optional().describe('The main account the token must belong to'),
        token: secretSource.describe("Where the main account's API token comes from"),
      })
      .optional()
      .describe('The main account whose sub accounts are managed; backups do not use it'),
    store: z
      .strictObject({
        url: storeUrl.optional().describe('s3://bucket/prefix or file:///folder'),
        endpoint: url.optional().describe('Address of an S3 server other than AWS'),
        region: z.string().min(1).optional(),
        pathStyle: z
          .boolean()
          .optional()
          .describe('Bucket in the path; the default with an endpoint'),
        caBundle: z
          .string()
          .min(1)
          .optional()
          .describe("File of certificates (PEM) of authorities to trust besides Node's"),
        tags: z.boolean().optional().describe('Also set metadata as object tags'),
        lock: z
          .strictObject({
            mode: z.enum(['governance', 'compliance']),
            duration: duration
              .refine((text) => /[1-9]/.test(text), 'expected a duration longer than nothing')
              .describe('How long a file cannot be deleted, such as 30d'),
          })
          .optional()
          .describe('S3 Object Lock on every file of a snapshot'),
        encryption: z
          .strictObject({
            mode: z.enum(['sse-s3', 'sse-kms']),
            keyId: z
              .string()
              .min(1)
              .optional()
              .describe("With sse-kms; the bucket's own otherwise"),
          })
          .refine(
            ({ mode, keyId }) => keyId === undefined || mode === 'sse-kms',
            'a keyId belongs to sse-kms',
          )
          .optional()
          .describe('Encryption by the S3 server'),
      })
      .superRefine((store, context) => {
        if (!store.url?.startsWith('file:')) return
        for (const part of ['lock', 'encryption'] as const) {
          if (store[part] === undefined) continue
          const message = 'only an s3:// store can do this'
          context.addIssue({ code: 'custom', path: [part], message })
        }
      })
      .optional()
      .describe('Where the archive is'),
    types: z
      .array(type)
      .min(1)
      .refine((types) => new Set(types).size === types.length, 'a type comes twice')
      .optional()
      .describe('Types to export, in this order'),
    compression: z.enum(['zstd', 'gzip', 'none']).optional(),
    encryption: z
      .strictObject({
        recipients: z
          .array(z.string().regex(/^age1[a-z0-9]+$/, 'expected an age recipient: age1…'))
          .min(1)
          .optional()
          .describe('Public age keys that can read the files'),
        passphrase: secretSource.optional().describe('In place of recipients'),
        identity: secretSource.optional().describe('Private age keys, to read encrypted files'),
      })
      .refine(
        ({ recipients, passphrase }) => recipients === undefined || passphrase === undefined,
        'recipients and passphrase exclude each other',
      )
      .optional(),
    guard: z
      .strictObject({
        maxFall: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe('Part of the objects of a type that may vanish before a snapshot is suspect'),
        window: duration
          .optional()
          .describe('How far back the highest number of objects counts; 7d by default'),
      })
      .optional(),
    retention: z
      .strictObject({
        last: positive.optional().describe('The newest snapshots'),
        hourly: positive.optional().describe('The newest of each hour, for this many hours'),
        daily: positive.optional(),
        weekly: positive.optional(),
        monthly: positive.optional(),
        yearly: positive.optional(),
        within: duration.optional().describe('Everything at most this much older than the newest'),
      })
      .optional()
      .describe('What prune keeps; what no rule keeps is removed'),
    schedule: z
      .strictObject({
        cron: z
          .string()
          .refine(isMinuteCron, 'expected a cron expression such as 15 3 * * *')
          .describe('When to back up'),
        timeZone: z
          .string()
          .refine(isTimeZone, 'expected a time zone such as Europe/Berlin')
          .optional()
          .describe('Zone of the cron expression; UTC by default'),
        jitter: duration.optional().describe('A run begins up to so much later, by chance'),
        deadline: duration.optional().describe('A run that takes longer has failed; 6h by default'),
        pruneAfter: z
          .boolean()
          .optional()
          .describe('Prune by retention after a run that was good, account by account'),
      })
      .optional(),
    worker: z
      .strictObject({
        listen: z
          .union([z.literal(false), z.string().regex(listenPattern, listenForm)], {
            error: listenForm,
          })
          .optional()
          .describe('Where metrics and health are served; 0.0.0.0:9090 by default'),
        grace: duration
          .optional()
          .describe('How long a run has to end after SIGTERM; 25s by default'),
      })
      .optional(),
    metrics: z
      .strictObject({
        textfile: z
          .string()
          .regex(/\.prom$/, 'expected a path that ends in .prom, as node_exporter reads it')
          .optional()
          .describe('File for the textfile collector of node_exporter'),
        pushgateway: url.optional().describe('Address of a Pushgateway'),
      })
      .optional(),
    notifications: z
      .array(
        z.discriminatedUnion('kind', [
          z.strictObject({
            kind: z.enum(['webhook', 'slack']),
            url: secretSource.describe('Where the address comes from'),
            on: z
              .array(z.enum(runEvents))
              .min(1)
              .optional()
              .describe('What is told; failure, suspect and recovery by default'),
          }),
          z.strictObject({
            kind: z.literal('ping'),
            url: secretSource.describe('Where the address comes from'),
            exitStatus: z.boolean().optional().describe('Ping /<exit status> instead of /fail'),
          }),
        ]),
      )
      .optional()
      .describe('Whom to tell how runs go'),
    limits: z
      .strictObject({
        accounts: positive.describe('Accounts backed up at once'),
        connectTimeoutMs: positive,
        headersTimeoutMs: positive.describe('Longest wait for an answer to begin'),
        bodyTimeoutMs: positive.describe('Longest pause within an answer'),
        attempts: positive.describe('How often a request is sent in all'),
        retryBaseMs: positive.describe('Wait before the second attempt; doubles each time'),
        maxExportBytes: positive.describe('Largest export accepted, decoded'),
        maxObjects: positive.describe('Most objects accepted in one export'),
        maxHitBytes: positive.describe('Largest hit accepted'),
        maxClockSkewMs: positive.describe(
          "Largest difference between this machine's clock and the service's in a backup",
        ),
        maxImportBytes: positive.describe('Largest request of a restore'),
        proveEachRunBytes: positive.describe(
          'Stored files up to this size in total are proven in each unchanged run, larger ones at least every seven days',
        ),
      })
      .partial()
      .optional(),
    logLevel: z.enum(logLevels).optional(),
  })
  .superRefine(({ accounts = [], types, compression }, context) => {
    const reserved = compression === 'none' && types?.find((one) => reservedTypes.has(one))
    if (reserved) {
      const message = `${reserved} needs compression: the archive itself has a file ${reserved}.json`
      context.addIssue({ code: 'custom', path: ['types'], message })
    }
    for (const [place, { include = [] }] of accounts.entries()) {
      const twice = include.find((inclusion) => types?.includes(inclusion))
      if (twice === undefined) continue
      const message = `${twice} comes twice, also in types`
      context.addIssue({ code: 'custom', path: ['accounts', place, 'include'], message })
    }
  })
  .refine(({ schedule, retention }) => !schedule?.pruneAfter || retention !== undefined, {
    path: ['schedule', 'pruneAfter'],
    error: 'needs retention, which says what to keep',
  })
  .describe('Configuration of dashkeep')

export type FileConfig = z.infer<typeof fileSchema>

const defaultLimits: Limits = {
  accounts: 4,
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 120_000,
  bodyTimeoutMs: 60_000,
  attempts: 4,
  retryBaseMs: 500,
  maxExportBytes: 4 * 1024 ** 3,
  maxObjects: 5_000_000,
  maxHitBytes: 16 * 1024 ** 2,
  maxClockSkewMs: 3600_000,
  maxImportBytes: 1024 ** 2,
  proveEachRunBytes: 64 * 1024 ** 2,
}

/** Types exported unless others are configured (specification, section 4). */
export const defaultTypes = ['search', 'visualization', 'dashboard'] as const

/** The environment, as `process.env` gives it. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The JSON schema of the configuration file. */
export function configSchema(): object {
  return z.toJSONSchema(fileSchema, { target: 'draft-2020-12', unrepresentable: 'any' })
}

/** Fills in the defaults. */
export function complete(
  file: FileConfig,
  outside: Pick<Config, 'accounts' | 'management' | 'shard' | 'findProxy'>,
): Config {
  return {
    ...outside,
    store: completeStore(file.store),
    importPath: file.service?.importPath || '/kibana/import',
    types: file.types ?? defaultTypes,
    compression: file.compression ?? 'zstd',
    encryption: file.encryption,
    guard: {
      maxFall: file.guard?.maxFall ?? 0.5,
      windowMs: parseDuration(file.guard?.window ?? '7d'),
    },
    retention: file.retention && completeRetention(file.retention),
    schedule: file.schedule && completeSchedule(file.schedule),
    worker: {
      listen: file.worker?.listen === false ? undefined : (file.worker?.listen ?? '0.0.0.0:9090'),
      graceMs: parseDuration(file.worker?.grace ?? '25s'),
    },
    metrics: { textfile: file.metrics?.textfile, pushgateway: file.metrics?.pushgateway },
    notifications: (file.notifications ?? []).map(completeNotification),
    limits: { ...defaultLimits, ...withoutUndefined(file.limits ?? {}) },
    logLevel: file.logLevel,
  }
}

function completeStore(store: FileConfig['store']): StoreConfig | undefined {
  if (store?.url === undefined) return undefined
  const { url, lock, ...others } = store
  if (lock === undefined) return { ...others, url }
  return { ...others, url, lock: { mode: lock.mode, durationMs: parseDuration(lock.duration) } }
}

function completeSchedule(schedule: NonNullable<FileConfig['schedule']>): ScheduleConfig {
  const { cron, timeZone = 'UTC', jitter = '0s', deadline = '6h', pruneAfter = false } = schedule
  const [jitterMs, deadlineMs] = [parseDuration(jitter), parseDuration(deadline)]
  return { cron, timeZone, jitterMs, deadlineMs, pruneAfter }
}

function completeNotification(
  notification: NonNullable<FileConfig['notifications']>[number],
): NotificationConfig {
  if (notification.kind === 'ping') {
    return { ...notification, exitStatus: notification.exitStatus ?? false }
  }
  return { ...notification, on: notification.on ?? ['failure', 'suspect', 'recovery'] }
}

function completeRetention({ within, ...rules }: NonNullable<FileConfig['retention']>): Retention {
  return { ...rules, ...(within !== undefined && { withinMs: parseDuration(within) }) }
}

function withoutUndefined(limits: object): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

/** Nothing secret can stand in an address of this form, so that it may be shown and recorded. */
function isPlainAddress(address: string): boolean {
  const { username, password, search, hash } = URL.parse(address) ?? {}
  return [username, password, search, hash].every((part) => !part)
}

/** Whether it is a cron expression whose smallest unit is the minute. */
async function isMinuteCron(expression: string): Promise<boolean> {
  const { validateDetailed } = await import('node-cron')
  return validateDetailed(expression).fields?.second.join() === '0'
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
