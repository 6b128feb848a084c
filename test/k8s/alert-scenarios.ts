import {
  account,
  always,
  between,
  copies,
  cronJob,
  cronJobs,
  every,
  exporter,
  from,
  job,
  longAgo,
  never,
  proofs,
  type Recording,
  worker,
} from './recorded-series.ts'

/** What happens in a cluster, and which alerts fire then. */
export interface Scenario {
  readonly name: string
  readonly recorded: Recording
  /** By hour: every alert that fires, with the labels that tell where. */
  readonly fires: Readonly<Record<number, readonly string[]>>
  /** Texts of an alert: the hour, its name with labels, summary and description. */
  readonly says?: readonly [hour: number, alert: string, summary: string, description: string]
}

const shop = account('shop')
const staging = account('staging')
const wellArchive = exporter({ ...shop, ...staging })
const at = (name: string) => `${name}{account="shop",namespace="dashkeep"}`
const inNamespace = '{namespace="dashkeep"}'
const ofCopy = (copy: string) => `{copy="${copy}",namespace="dashkeep"}`
const of = (cronjob: string) => `{cronjob="${cronjob}",namespace="dashkeep"}`

/** A Job of the second night that has failed. */
const failedJob = (owner: string) =>
  job(owner, `${owner}-2`, { created: 27.25 * 3600, failed: true })
/** The CronJob and its failed Job, with nothing good after the first night. */
const failing = (name: string) => ({
  ...cronJob(name, { success: every(168, 3.5, 3.5) }),
  ...failedJob(name),
})

const workerLabels = 'namespace="dashkeep",pod="dashkeep-worker-1"'
const workerCronJob = cronJob('dashkeep', { success: always(longAgo), suspended: 1 })

/** CronJobs with the exporter. */
const ofCronJobs: readonly Scenario[] = [
  {
    name: 'all is well',
    recorded: { ...wellArchive, ...cronJobs() },
    fires: { 1: [], 4: [], 27: [], 100: [], 173: [], 215: [] },
  },
  {
    name: 'a new installation in its first hours, and its first nights',
    recorded: {
      ...exporter(
        account('shop', {
          state: (hour) => (hour < 16 ? 'missing' : 'good'),
          lastSuccess: every(24, 15.5),
        }),
      ),
      ...cronJob('dashkeep', { created: 0, success: from(16, every(24, 15.5)) }),
      ...cronJob('dashkeep-verify', { created: 0, success: from(100, every(168, 99.5)) }),
    },
    fires: { 0: [], 1: [], 12: [], 16: [], 30: [], 60: [] },
  },
  {
    name: 'a new installation that never succeeds',
    recorded: {
      ...exporter(account('shop', { state: () => 'missing' })),
      ...cronJob('dashkeep', { created: 0, success: never }),
      ...job('dashkeep', 'dashkeep-2', { created: 15.25 * 3600, failed: true }),
    },
    fires: {
      12: [],
      17: [`DashkeepJobFailed${of('dashkeep')}`],
      28: [
        `DashkeepJobFailed${of('dashkeep')}`,
        `DashkeepJobOverdue${of('dashkeep')}`,
        at('DashkeepNeverGood'),
      ],
    },
    says: [
      28,
      `DashkeepJobOverdue${of('dashkeep')}`,
      'dashkeep has not succeeded for 1d 4h 0m 0s',
      'See `kubectl --namespace dashkeep get cronjobs,jobs`.',
    ],
  },
  {
    name: 'the last night failed, and the archive is still fresh',
    recorded: {
      ...exporter(account('shop', { lastSuccess: every(24, 3.5, 3.5) })),
      ...cronJobs(failing('dashkeep')),
    },
    fires: {
      27: [],
      28: [`DashkeepJobFailed${of('dashkeep')}`],
    },
  },
  {
    name: 'a failed night that was repeated by hand, while its Job is still there',
    recorded: {
      ...wellArchive,
      ...cronJobs({
        ...cronJob('dashkeep', { success: (hour) => (hour < 32 ? 3.5 : 31.5) * 3600 }),
        ...failedJob('dashkeep'),
      }),
    },
    fires: { 29: [`DashkeepJobFailed${of('dashkeep')}`], 32: [], 50: [] },
  },
  {
    name: 'backups that stopped a week ago',
    recorded: {
      ...exporter({
        ...account('shop', {
          lastSuccess: every(24, 3.5, 3.5),
          state: (hour) => (hour > 30 ? 'stale' : 'good'),
        }),
        ...account('staging', { lastSuccess: every(24, 3.5, 3.5) }),
      }),
      ...cronJobs(cronJob('dashkeep', { success: every(24, 3.5, 3.5) })),
    },
    fires: {
      29: [],
      175: [
        `DashkeepJobOverdue${of('dashkeep')}`,
        at('DashkeepNoGoodSnapshot'),
        'DashkeepNoGoodSnapshot{account="staging",namespace="dashkeep"}',
      ],
    },
  },
  {
    name: 'a CronJob that somebody suspended and forgot',
    recorded: {
      ...exporter(account('shop', { lastSuccess: every(24, 3.5, 3.5) })),
      ...cronJobs({
        ...cronJob('dashkeep', { success: every(24, 3.5, 3.5), suspended: 1 }),
        ...cronJob('dashkeep-verify', { success: always(longAgo), suspended: 1 }),
      }),
    },
    fires: { 29: [], 31: [at('DashkeepNoGoodSnapshot')] },
    says: [
      31,
      at('DashkeepNoGoodSnapshot'),
      'No good snapshot of shop for 1d 3h 30m 0s',
      "Run `dashkeep status` and `dashkeep backup --account 'shop'`.",
    ],
  },
  {
    name: 'a suspect snapshot until somebody has looked',
    recorded: {
      ...exporter(
        account('shop', { state: (hour) => (hour >= 28 && hour < 40 ? 'suspect' : 'good') }),
      ),
      ...cronJobs(),
    },
    fires: { 27: [], 28: [at('DashkeepSuspect')], 39: [at('DashkeepSuspect')], 40: [] },
  },
  {
    name: 'a damaged snapshot',
    recorded: { ...exporter(account('shop', { state: () => 'damaged' })), ...cronJobs() },
    fires: { 2: [at('DashkeepDamaged')] },
  },
  {
    name: 'the only snapshots are damaged, and backups have stopped',
    recorded: {
      ...exporter({
        ...account('shop', {
          state: (hour) => (hour < 30 ? 'damaged' : 'stale'),
          lastSuccess: never,
        }),
        ...staging,
      }),
      ...cronJobs(),
    },
    fires: {
      29: [at('DashkeepDamaged')],
      32: [at('DashkeepDamaged')],
      60: [at('DashkeepDamaged')],
    },
  },
  {
    name: 'a snapshot from the future, by the archive',
    recorded: { ...exporter(account('shop', { state: () => 'from-future' })), ...cronJobs() },
    fires: { 2: [at('DashkeepClockWrong')] },
  },
  {
    name: 'an archive that is empty at once',
    recorded: {
      ...exporter(account('shop', { state: (hour) => (hour < 50 ? 'good' : 'missing') })),
      ...cronJobs(),
    },
    fires: {
      49: [],
      51: [at('DashkeepSnapshotsGone')],
      78: [at('DashkeepNeverGood'), at('DashkeepSnapshotsGone')],
      120: [at('DashkeepNeverGood')],
    },
  },
  {
    name: 'an account that was added',
    recorded: {
      ...exporter({
        ...shop,
        ...account('staging', {
          lastSuccess: from(52, every(24, 3.5)),
          state: (hour) => (hour < 52 ? 'missing' : 'good'),
        }),
      }),
      ...cronJobs(),
    },
    fires: { 25: [], 100: [] },
  },
  {
    name: 'one shard that fails each night',
    recorded: {
      ...exporter({ ...shop, ...account('in-shard-3', { lastSuccess: every(24, 3.5, 3.5) }) }),
      ...cronJobs(failing('dashkeep')),
    },
    fires: {
      28: [`DashkeepJobFailed${of('dashkeep')}`],
      31: [
        `DashkeepJobFailed${of('dashkeep')}`,
        `DashkeepJobOverdue${of('dashkeep')}`,
        'DashkeepNoGoodSnapshot{account="in-shard-3",namespace="dashkeep"}',
      ],
    },
  },
  {
    name: 'a prune that fails',
    recorded: { ...wellArchive, ...cronJobs(failing('dashkeep-prune')) },
    fires: {
      27: [],
      28: [`DashkeepJobFailed${of('dashkeep-prune')}`],
      31: [`DashkeepJobFailed${of('dashkeep-prune')}`, `DashkeepJobOverdue${of('dashkeep-prune')}`],
    },
  },
  {
    name: 'a verify that fails',
    recorded: { ...wellArchive, ...cronJobs(failing('dashkeep-verify')) },
    fires: { 27: [], 28: [`DashkeepVerifyFailed${of('dashkeep-verify')}`] },
  },
  {
    name: 'a drill that fails',
    recorded: { ...wellArchive, ...cronJobs(failing('dashkeep-drill')) },
    fires: { 28: [`DashkeepVerifyFailed${of('dashkeep-drill')}`] },
    says: [
      28,
      `DashkeepVerifyFailed${of('dashkeep-drill')}`,
      'dashkeep-drill failed, and has not succeeded since',
      'The log of the newest Job has the reason: `kubectl --namespace dashkeep get jobs`. Exit code 5 means damage, any other one that not everything was proven.',
    ],
  },
  {
    name: 'a verify that is overdue',
    recorded: {
      ...wellArchive,
      ...cronJobs(cronJob('dashkeep-verify', { success: always(-3600) })),
    },
    fires: { 190: [], 194: [`DashkeepNotVerified${of('dashkeep-verify')}`] },
  },
  {
    name: 'a verify that never ran',
    recorded: {
      ...wellArchive,
      ...cronJobs(cronJob('dashkeep-verify', { created: 0, success: never })),
    },
    fires: { 100: [], 194: [`DashkeepNotVerified${of('dashkeep-verify')}`] },
  },
  {
    name: 'an archive that cannot be read for hours',
    recorded: {
      ...exporter({
        ...shop,
        'dashkeep_archive_readable{namespace="dashkeep",pod="dashkeep-exporter-1"}': (hour) =>
          hour >= 10 && hour < 14 ? 0 : 1,
      }),
      ...cronJobs(),
    },
    fires: {
      9: [],
      11: [`DashkeepArchiveUnreadable${inNamespace}`],
      13: [`DashkeepArchiveUnreadable${inNamespace}`],
      14: [],
    },
  },
  {
    name: 'a copy that stays behind, and one that cannot be read',
    recorded: {
      ...exporter({
        ...shop,
        ...copies({ offsite: (hour) => (hour >= 10 && hour < 50 ? 1 : 0), lost: () => undefined }),
      }),
      ...cronJobs(),
    },
    fires: {
      20: [],
      30: [`DashkeepCopyBehind${ofCopy('lost')}`],
      40: [`DashkeepCopyBehind${ofCopy('lost')}`, `DashkeepCopyBehind${ofCopy('offsite')}`],
      52: [`DashkeepCopyBehind${ofCopy('lost')}`],
    },
  },
  {
    name: 'weekly proofs of every account',
    recorded: {
      ...wellArchive,
      ...proofs('shop', { verify: every(168, 5), drill: every(168, 6) }),
      ...proofs('staging', { verify: every(168, 5), drill: every(168, 6) }),
      ...cronJobs(),
    },
    fires: { 10: [], 180: [], 215: [], 400: [] },
  },
  {
    name: 'drills that go on while verifications have stopped, then both have',
    recorded: {
      ...wellArchive,
      ...proofs('shop', { verify: every(168, 5, 5), drill: every(168, 6, 400) }),
      ...proofs('staging', { verify: every(168, 5) }),
      ...cronJobs(),
    },
    fires: { 215: [], 500: [], 538: [at('DashkeepUnproven')] },
    says: [
      538,
      at('DashkeepUnproven'),
      'The backups of shop were not proven for 8 days',
      "Run `dashkeep verify --record --account 'shop'`. `dashkeep status --max-proof-age 8d` shows the last proof.",
    ],
  },
  {
    name: 'an account that is never proven, and one that is new',
    recorded: {
      ...exporter({
        ...shop,
        ...staging,
        ...account('new', {
          state: (hour) => (hour < 200 ? 'unknown' : 'good'),
          lastSuccess: from(200, every(24, 3.5)),
        }),
      }),
      ...proofs('staging', { verify: every(168, 5) }),
      ...cronJobs(),
    },
    fires: { 190: [], 195: [at('DashkeepUnproven')], 300: [at('DashkeepUnproven')] },
  },
  {
    name: 'a drill that failed, until a good one follows',
    recorded: {
      ...wellArchive,
      ...proofs('shop', { drill: every(168, 6) }, (hour) => Number(hour >= 174 && hour < 342)),
      ...proofs('staging', { drill: every(168, 6) }),
      ...cronJobs(),
    },
    fires: {
      173: [],
      176: ['DashkeepProofFailed{account="shop",kind="drill",namespace="dashkeep"}'],
      341: ['DashkeepProofFailed{account="shop",kind="drill",namespace="dashkeep"}'],
      343: [],
    },
  },
  {
    name: 'an exporter that is gone',
    recorded: { ...exporter(shop, { up: between(0, 20, always(1)) }), ...cronJobs() },
    fires: { 19: [], 21: [`DashkeepSilent${inNamespace}`] },
    says: [
      21,
      `DashkeepSilent${inNamespace}`,
      'There are no metrics of the backups in the namespace dashkeep',
      'Neither exporter nor worker is scraped, and nothing is pushed. `dashkeep status` shows how old the backups are.',
    ],
  },
  {
    name: 'an exporter that moved to another node',
    recorded: {
      ...exporter({ ...shop, ...staging }, { up: between(0, 20, always(1)) }),
      ...Object.fromEntries(
        Object.entries(exporter({ ...shop, ...staging }, { up: from(20, always(1)) })).map(
          ([series, values]) => [series.replace('exporter-1', 'exporter-2'), values],
        ),
      ),
      ...cronJobs(),
    },
    fires: { 19: [], 20: [], 21: [], 60: [] },
  },
  {
    name: 'an exporter beside a Prometheus that knows of no CronJob',
    recorded: wellArchive,
    fires: { 2: [`DashkeepJobsUnseen${inNamespace}`] },
  },
  {
    name: 'the same account in two namespaces, one of which is stale',
    recorded: {
      ...wellArchive,
      ...cronJobs(),
      ...exporter(account('shop', { namespace: 'trial', lastSuccess: every(24, 3.5, 3.5) }), {
        namespace: 'trial',
      }),
      ...cronJob('dashkeep', { namespace: 'trial' }),
    },
    fires: { 31: ['DashkeepNoGoodSnapshot{account="shop",namespace="trial"}'] },
  },
]

/** One worker, beside its suspended CronJob; a Pushgateway; nothing at all. */
const ofOthers: readonly Scenario[] = [
  {
    name: 'a worker, and all is well',
    recorded: { ...worker(), ...workerCronJob },
    fires: { 1: [], 27: [], 100: [], 215: [] },
  },
  {
    name: 'a worker that is gone',
    recorded: { ...worker({}, { up: between(0, 20, always(1)) }), ...workerCronJob },
    fires: { 19: [], 21: [`DashkeepSilent${inNamespace}`] },
  },
  {
    name: 'a worker whose last run failed',
    recorded: {
      ...worker({
        [`dashkeep_last_run_success{${workerLabels},account="shop"}`]: (hour) =>
          Number(hour < 28 || hour >= 52),
      }),
      ...workerCronJob,
    },
    fires: { 27: [], 29: [at('DashkeepRunFailed')], 52: [] },
  },
  {
    name: 'a worker with an account that never had a good snapshot',
    recorded: {
      ...worker({
        [`dashkeep_last_run_success{${workerLabels},account="new"}`]: from(4, always(0)),
      }),
      ...workerCronJob,
    },
    fires: {
      5: [
        'DashkeepNeverGood{account="new",namespace="dashkeep"}',
        'DashkeepRunFailed{account="new",namespace="dashkeep"}',
      ],
    },
  },
  {
    name: 'a worker without a usable configuration, whose notifications are lost',
    recorded: {
      ...worker({
        [`dashkeep_config_good{${workerLabels}}`]: (hour) => Number(hour < 10),
        [`dashkeep_failed_notifications_total{${workerLabels},kind="slack"}`]: (hour) =>
          hour < 10 ? 0 : 1,
      }),
      ...workerCronJob,
    },
    fires: {
      9: [],
      12: [
        `DashkeepConfigUnusable${inNamespace}`,
        'DashkeepNobodyNotified{kind="slack",namespace="dashkeep"}',
      ],
    },
  },
  {
    name: 'a worker with a success that lies in the future',
    recorded: {
      ...worker({
        [`dashkeep_last_success_timestamp_seconds{${workerLabels},account="shop"}`]:
          always(31536000),
      }),
      ...workerCronJob,
    },
    fires: { 2: [at('DashkeepClockWrong')] },
  },
  {
    name: 'single runs that push what they found out, outside of Kubernetes',
    recorded: {
      'dashkeep_last_run_timestamp_seconds{account="shop"}': every(24, 3.5),
      'dashkeep_last_run_success{account="shop"}': always(1),
      'dashkeep_last_success_timestamp_seconds{account="shop"}': every(24, 3.5, 27.5),
    },
    fires: { 27: [], 55: ['DashkeepNoGoodSnapshot{account="shop"}'] },
  },
  {
    name: 'silence',
    recorded: { 'up{job="other"}': always(1) },
    fires: { 2: ['DashkeepSilent{}'] },
    says: [
      2,
      'DashkeepSilent{}',
      'There are no metrics of the backups',
      'Neither exporter nor worker is scraped, and nothing is pushed. `dashkeep status` shows how old the backups are.',
    ],
  },
]

export const scenarios: readonly Scenario[] = [...ofCronJobs, ...ofOthers]
