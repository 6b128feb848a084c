import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { makeBucketPlace } from '../e2e/archive-place.ts'
import { compileCache } from '../e2e/spawn-dashkeep.ts'
import { shop, shopId, startTrial, type Trial } from '../e2e/trial.ts'
import { startTlsFront } from '../http/tls-front.ts'
import { type Receiver, startReceiver } from '../run/notify/receiver.ts'
import { findRealS3Server } from '../s3-server/ceph.ts'
import { startS3Server } from '../s3-server/s3-server.ts'
import { putOnPath } from './shell.ts'

const dayMs = 24 * 60 * 60 * 1000
const prefix = { DASHKEEP_PATH_PREFIX: '/v1' }

const subAccounts = [
  {
    ...{ accountId: 100011, accountName: 'Team A', apiTokens: ['team-a-token'] },
    ...{ kibanaVersion: '7.10.2', settings: { maxDailyGB: 5, retentionDays: 7 } },
  },
  { accountId: 100012, accountName: 'Team B', settings: { maxDailyGB: 1, retentionDays: 7 } },
]

/** What the examples need besides a shell: a service, an archive with some history, a bucket. */
export interface World extends AsyncDisposable {
  readonly trial: Trial
  /** An empty folder, where commands run unless an example says otherwise. */
  readonly folder: string
  /** The folder of the oldest snapshot. */
  readonly snapshotFolder: string
  /** What every shell has: the path with `dashkeep` in it, and a home. */
  readonly shell: Readonly<Record<string, string>>
  /** The account and the archive, as the first quick start exports them. */
  readonly account: Readonly<Record<string, string>>
  /** The bucket and its keys: on a real server where there is one, else on one in memory. */
  readonly bucket: Readonly<Record<string, string>>
  readonly receiver: Receiver
  /** Where the service answers over TLS, with a certificate of an authority of one's own. */
  readonly tlsPort: number
  /** The day, as YYYY-MM-DD, that many days ago. */
  daysAgo(days: number): string
}

/** A service that takes imports. Two snapshots, five and two days old; the dashboard `shop-overview` was deleted in between. */
export async function makeWorld(): Promise<World> {
  await using made = new AsyncDisposableStack()
  const now = new Date()
  const before = (days: number) => new Date(now.getTime() - days * dayMs)
  const trial = made.use(await startTrial({ form: 'deployed', accounts: [shop({ subAccounts })] }))
  await trial.runAt(before(5), ['backup'], prefix)
  const [first = ''] = await trial.snapshots()
  deleteDashboard(trial)
  await trial.runAt(before(2), ['backup'], prefix)
  const folder = await mkdtemp(join(tmpdir(), 'dashkeep-examples-'))
  made.defer(() => rm(folder, { recursive: true, force: true }))
  await putOnPath(folder)
  const bucket = await makeBucket(made)
  const receiver = made.use(await startReceiver())
  const { port: tlsPort } = made.use(await startTlsFront(trial.sandbox.url))
  const { DASHKEEP_BASE_URL = '', DASHKEEP_API_TOKEN = '', DASHKEEP_STORE = '' } = trial.env
  const kept = made.move()
  return {
    trial,
    folder,
    snapshotFolder: join(trial.archive, String(shopId), first),
    shell: {
      PATH: [folder, process.env.PATH].join(delimiter),
      HOME: folder,
      NODE_COMPILE_CACHE: compileCache,
      npm_config_update_notifier: 'false',
    },
    account: { ...prefix, DASHKEEP_BASE_URL, DASHKEEP_API_TOKEN, DASHKEEP_STORE },
    bucket,
    receiver,
    tlsPort,
    daysAgo: (days) => before(days).toISOString().slice(0, 10),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Deletes the dashboard `shop-overview` in the service; it may be gone already. */
export function deleteDashboard({ sandbox }: Trial): void {
  const document = Buffer.from(sandbox.objects(shopId, 'dashboard')).toString()
  const { hits } = JSON.parse(document) as { hits: { _id: string }[] }
  const others = hits.filter(({ _id }) => _id !== 'dashboard:shop-overview')
  sandbox.setObjects(shopId, 'dashboard', others)
}

async function makeBucket(made: AsyncDisposableStack): Promise<Record<string, string>> {
  if (findRealS3Server()) {
    const { env } = made.use(await makeBucketPlace())
    return { ...env, DASHKEEP_STORE: `${env.DASHKEEP_STORE}`.replace(/\/$/, '') }
  }
  const { url, bucketName, credentials } = made.use(await startS3Server())
  return {
    DASHKEEP_STORE: `s3://${bucketName}/dashkeep`,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  }
}
