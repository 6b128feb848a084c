import { z } from 'zod'
import { closest } from './closest.ts'
import { knownTypes, logLevels } from './config.ts'
import { judgeCron } from './cron.ts'
import {
  copyName,
  duration,
  listen,
  listenForm,
  longerThanNothing,
  name,
  pathPrefix,
  positive,
  recipient,
  secretSource,
  storeUrl,
  timerDuration,
  timerMs,
  url,
} from './fields.ts'
import { notificationSchema } from './notifications.ts'

const type = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, 'expected a type such as dashboard')
  .refine((one) => knownTypes.includes(one) || closest(one, knownTypes) === undefined, {
    error: 'not a known type',
    params: { candidates: knownTypes },
  })

const cronProblems = {
  good: undefined,
  invalid: 'expected a cron expression such as 15 3 * * *',
  'never due': 'never due',
}
const missingCron =
  'missing, and DASHKEEP_SCHEDULE is not set: a time zone alone (timeZone, DASHKEEP_TIME_ZONE) is no schedule'

const service = z
  .strictObject({
    baseUrl: url.optional().describe('Base address for accounts without one of their own'),
    pathPrefix: pathPrefix.optional().describe('Path prefix for accounts without one of their own'),
    importPath: pathPrefix
      .optional()
      .describe(
        'Path to which restore sends objects, after the path prefix; /kibana/import by default',
      ),
  })
  .optional()
  .describe('Settings that the accounts share')

const accounts = z
  .array(
    z.strictObject({
      name: name.describe('Your name for the account'),
      baseUrl: url.optional().describe('Regional base address of the service'),
      pathPrefix: pathPrefix.optional().describe('Prefix of the unversioned paths, such as /v1'),
      accountId: z.int().optional().describe('Id of the account that the token must belong to'),
      token: secretSource.describe('Variable or file that holds the API token'),
      include: z
        .array(z.literal('sub-accounts'))
        .max(1)
        .optional()
        .describe(
          'Also stores the settings of the sub accounts; needs the token of a main account',
        ),
    }),
  )
  .min(1)
  .optional()
  .describe('The accounts to back up')

const management = z
  .strictObject({
    baseUrl: url.optional().describe('Regional base address of the service'),
    pathPrefix: pathPrefix.optional(),
    accountId: z.int().optional().describe('Id of the main account that the token must belong to'),
    token: secretSource.describe('Variable or file that holds the API token of the main account'),
  })
  .optional()
  .describe('The main account whose sub accounts you manage; backups do not use it')

const storeFields = {
  url: storeUrl.describe('s3://bucket/prefix, file:///folder or the path of a folder'),
  endpoint: url.optional().describe('Address of an S3 server other than AWS'),
  region: z.string().min(1).optional(),
  profile: z
    .string()
    .min(1)
    .optional()
    .describe('AWS profile to use in place of the credentials in the environment'),
  pathStyle: z
    .boolean()
    .optional()
    .describe(
      'Puts the bucket into the path instead of the host name; true by default with an endpoint',
    ),
  caBundle: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file of certificate authorities to trust in addition to those of Node'),
  tags: z.boolean().optional().describe('Also writes the metadata of files as object tags'),
  lock: z
    .strictObject({
      mode: z.enum(['governance', 'compliance']),
      duration: longerThanNothing(duration).describe(
        'How long no file can be deleted, such as 30d',
      ),
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
        .describe("Key for sse-kms; the bucket's own key by default"),
    })
    .optional()
    .describe('Encryption by the S3 server'),
}

const store = z
  .strictObject({ ...storeFields, url: storeFields.url.optional() })
  .optional()
  .describe('Store that holds the archive')

const copies = z
  .array(
    z.strictObject({
      name: copyName.describe('Your name for the copy'),
      ...storeFields,
      newerOnly: z
        .boolean()
        .optional()
        .describe(
          'Copies only snapshots that are newer than those in the copy, so that the copy can be pruned by its own rules',
        ),
      deadline: longerThanNothing(timerDuration)
        .optional()
        .describe(
          'Stops copying after a run when it takes longer; the next run continues; 30m by default',
        ),
    }),
  )
  .optional()
  .describe('Stores that hold a copy of the archive')

const git = z
  .strictObject({
    folder: z
      .string()
      .min(1)
      .describe('Folder in a git repository; each account has a subfolder with its id'),
    push: z.boolean().optional().describe('Also runs git push; false by default'),
    deadline: longerThanNothing(timerDuration)
      .optional()
      .describe('Stops the commits after a run when they take longer; 30m by default'),
  })
  .optional()
  .describe('Commits the objects to git after each run')

const encryption = z
  .strictObject({
    recipients: z
      .array(recipient)
      .min(1)
      .optional()
      .describe('Public age keys; the files can be read with the private key of any of them'),
    passphrase: secretSource
      .optional()
      .describe('Variable or file that holds a passphrase, in place of recipients'),
    identity: secretSource
      .optional()
      .describe('Variable or file that holds private age keys, to read encrypted files'),
  })
  .optional()

const guard = z
  .strictObject({
    maxFall: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe(
        'Share of the objects of a type that may disappear before a snapshot is suspect, 0 to 1; 0.5 by default',
      ),
    window: duration
      .optional()
      .describe('How far back the highest number of objects of a type counts; 7d by default'),
  })
  .optional()

const retention = z
  .strictObject({
    last: positive.optional().describe('Keeps this many of the newest snapshots'),
    hourly: positive
      .optional()
      .describe('Keeps the newest snapshot of each hour, for this many hours'),
    daily: positive
      .optional()
      .describe('Keeps the newest snapshot of each day, for this many days'),
    weekly: positive
      .optional()
      .describe('Keeps the newest snapshot of each week, for this many weeks'),
    monthly: positive
      .optional()
      .describe('Keeps the newest snapshot of each month, for this many months'),
    yearly: positive
      .optional()
      .describe('Keeps the newest snapshot of each year, for this many years'),
    within: duration
      .optional()
      .describe('Keeps snapshots that are at most this much older than the newest, such as 30d'),
  })
  .optional()
  .describe('Rules of prune; it removes snapshots that no rule keeps')

const schedule = z
  .strictObject({
    cron: z
      .string({ error: ({ input }) => (input === undefined ? missingCron : undefined) })
      .superRefine(async (cron, { addIssue }) => {
        const message = cronProblems[await judgeCron(cron)]
        if (message !== undefined) addIssue({ code: 'custom', message })
      })
      .describe('Cron expression of the backups, minute first'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'expected a time zone such as Europe/Berlin')
      .optional()
      .describe('Time zone of the cron expression; UTC by default'),
    jitter: timerDuration
      .optional()
      .describe('Delays each run by a random time up to this; 0s by default'),
    deadline: longerThanNothing(timerDuration)
      .optional()
      .describe('Stops a run that takes longer; the run has then failed; 6h by default'),
    pruneAfter: z
      .boolean()
      .optional()
      .describe('Prunes an account by retention after a good run of the worker; false by default'),
  })
  .optional()

const worker = z
  .strictObject({
    listen: z
      .union([z.literal(false), listen], { error: listenForm })
      .optional()
      .describe(
        'Address at which the worker serves metrics and health; false turns it off; 127.0.0.1:5337 by default',
      ),
    grace: timerDuration
      .optional()
      .describe('Time that a run has to end after SIGTERM; 25s by default'),
  })
  .optional()

const metrics = z
  .strictObject({
    textfile: z
      .string()
      .regex(/\.prom$/, 'expected a path that ends in .prom, as node_exporter reads it')
      .optional()
      .describe('File for the textfile collector of node_exporter'),
    pushgateway: url.optional().describe('Address of a Pushgateway'),
  })
  .optional()

const limits = z
  .strictObject({
    accounts: positive.describe('Number of accounts that are backed up at the same time'),
    connectTimeoutMs: timerMs.describe('Longest wait for a connection'),
    headersTimeoutMs: timerMs.describe('Longest wait for an answer to begin'),
    bodyTimeoutMs: timerMs.describe('Longest pause within an answer'),
    answerTimeoutMs: timerMs.describe('Longest time for a whole answer'),
    attempts: positive.describe('Number of attempts for a request'),
    retryBaseMs: timerMs.describe(
      'Pause before the second attempt; doubles with each further attempt',
    ),
    maxExportBytes: positive.describe('Largest accepted export, decoded'),
    maxObjects: positive.describe('Maximum number of objects in one export'),
    maxHitBytes: positive.describe('Largest accepted object'),
    maxClockSkewMs: positive.describe(
      "Largest accepted difference between this machine's clock and the service's; a backup beyond it is refused",
    ),
    maxImportBytes: positive.describe(
      'Largest request of a restore; a larger object is sent alone',
    ),
    proveEachRunBytes: positive.describe(
      'Each unchanged run compares the stored files of an account with their SHA-256 if they have at most this size in total; otherwise it does so at least every seven days',
    ),
  })
  .partial()
  .optional()

/** The schema of the configuration file. Rules between settings are in `rules.ts`. */
export const fileSchema = z
  .strictObject({
    service,
    accounts,
    management,
    store,
    copies,
    git,
    types: z.array(type).min(1).optional().describe('Types to export, in this order'),
    compression: z.enum(['zstd', 'gzip', 'none']).optional(),
    encryption,
    guard,
    retention,
    schedule,
    worker,
    metrics,
    notifications: z
      .array(notificationSchema)
      .optional()
      .describe('Receivers of notifications about runs'),
    limits,
    logLevel: z.enum(logLevels).optional(),
  })
  .describe('Configuration of dashkeep')

/** The content of a file that matches the schema. */
export type FileConfig = z.infer<typeof fileSchema>

/** The JSON schema of the configuration file. */
export function configSchema(): object {
  return z.toJSONSchema(fileSchema, { target: 'draft-2020-12', unrepresentable: 'any' })
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
