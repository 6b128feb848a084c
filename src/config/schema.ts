import { z } from 'zod'
import { closest } from './closest.ts'
import { knownTypes, logLevels } from './config.ts'
import { judgeCron } from './cron.ts'
import {
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
    baseUrl: url.optional().describe('Base address of accounts that name none'),
    pathPrefix: pathPrefix.optional().describe('Path prefix of accounts that name none'),
    importPath: pathPrefix
      .optional()
      .describe('Where a restore sends objects, behind the prefix; /kibana/import by default'),
  })
  .optional()
  .describe('What the accounts have in common')

const accounts = z
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
  .describe('The accounts to back up')

const management = z
  .strictObject({
    baseUrl: url.optional().describe('Regional base address of the service'),
    pathPrefix: pathPrefix.optional(),
    accountId: z.int().optional().describe('The main account the token must belong to'),
    token: secretSource.describe("Where the main account's API token comes from"),
  })
  .optional()
  .describe('The main account whose sub accounts are managed; backups do not use it')

const store = z
  .strictObject({
    url: storeUrl.optional().describe('s3://bucket/prefix, file:///folder or the path of a folder'),
    endpoint: url.optional().describe('Address of an S3 server other than AWS'),
    region: z.string().min(1).optional(),
    pathStyle: z.boolean().optional().describe('Bucket in the path; the default with an endpoint'),
    caBundle: z
      .string()
      .min(1)
      .optional()
      .describe("File of certificates (PEM) of authorities to trust besides Node's"),
    tags: z.boolean().optional().describe('Also set metadata as object tags'),
    lock: z
      .strictObject({
        mode: z.enum(['governance', 'compliance']),
        duration: longerThanNothing(duration).describe(
          'How long a file cannot be deleted, such as 30d',
        ),
      })
      .optional()
      .describe('S3 Object Lock on every file of a snapshot'),
    encryption: z
      .strictObject({
        mode: z.enum(['sse-s3', 'sse-kms']),
        keyId: z.string().min(1).optional().describe("With sse-kms; the bucket's own otherwise"),
      })
      .optional()
      .describe('Encryption by the S3 server'),
  })
  .optional()
  .describe('Where the archive is')

const encryption = z
  .strictObject({
    recipients: z
      .array(recipient)
      .min(1)
      .optional()
      .describe('Public age keys that can read the files'),
    passphrase: secretSource.optional().describe('In place of recipients'),
    identity: secretSource.optional().describe('Private age keys, to read encrypted files'),
  })
  .optional()

const guard = z
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
  .optional()

const retention = z
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
  .describe('What prune keeps; what no rule keeps is removed')

const schedule = z
  .strictObject({
    cron: z
      .string({ error: ({ input }) => (input === undefined ? missingCron : undefined) })
      .superRefine(async (cron, { addIssue }) => {
        const message = cronProblems[await judgeCron(cron)]
        if (message !== undefined) addIssue({ code: 'custom', message })
      })
      .describe('When to back up'),
    timeZone: z
      .string()
      .refine(isTimeZone, 'expected a time zone such as Europe/Berlin')
      .optional()
      .describe('Zone of the cron expression; UTC by default'),
    jitter: timerDuration.optional().describe('A run begins up to so much later, by chance'),
    deadline: longerThanNothing(timerDuration)
      .optional()
      .describe('A run that takes longer has failed; 6h by default'),
    pruneAfter: z
      .boolean()
      .optional()
      .describe('Prune by retention after a run that was good, account by account'),
  })
  .optional()

const worker = z
  .strictObject({
    listen: z
      .union([z.literal(false), listen], { error: listenForm })
      .optional()
      .describe('Where metrics and health are served; 127.0.0.1:5337 by default'),
    grace: timerDuration
      .optional()
      .describe('How long a run has to end after SIGTERM; 25s by default'),
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
    accounts: positive.describe('Accounts backed up at once'),
    connectTimeoutMs: timerMs,
    headersTimeoutMs: timerMs.describe('Longest wait for an answer to begin'),
    bodyTimeoutMs: timerMs.describe('Longest pause within an answer'),
    answerTimeoutMs: timerMs.describe('Longest time for a whole answer'),
    attempts: positive.describe('How often a request is sent in all'),
    retryBaseMs: timerMs.describe('Wait before the second attempt; doubles each time'),
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
  .optional()

/** The form of the configuration file. What settings ask of each other is in `rules.ts`. */
export const fileSchema = z
  .strictObject({
    service,
    accounts,
    management,
    store,
    types: z.array(type).min(1).optional().describe('Types to export, in this order'),
    compression: z.enum(['zstd', 'gzip', 'none']).optional(),
    encryption,
    guard,
    retention,
    schedule,
    worker,
    metrics,
    notifications: z.array(notificationSchema).optional().describe('Whom to tell how runs go'),
    limits,
    logLevel: z.enum(logLevels).optional(),
  })
  .describe('Configuration of dashkeep')

/** What stands in a file that has the form of the schema. */
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
