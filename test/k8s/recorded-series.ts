/** Series of a cluster, hour by hour, as promtool reads them. */

/** What a series is at an hour; undefined where there is no sample. */
export type Values = (hour: number) => number | undefined

/** A series by its name with labels, as promtool reads it. */
export type Recording = Readonly<Record<string, Values>>

/** Seconds of some days before the first hour, when everything was made unless told otherwise. */
export const longAgo = -30 * 86_400

export const never: Values = () => undefined
export const always =
  (value: number): Values =>
  () =>
    value
export const from = (hour: number, values: Values): Values =>
  between(hour, Number.POSITIVE_INFINITY, values)

/** The values from one hour up to another one. */
export function between(first: number, end: number, values: Values): Values {
  return (hour) => (hour >= first && hour < end ? values(hour) : undefined)
}

/** Seconds of the last of the times that come each so many hours from `first` on, none after `end`. */
export function every(period: number, first: number, end = Number.POSITIVE_INFINITY): Values {
  return (hour) => {
    const last = Math.floor((Math.min(hour, end) - first) / period) * period + first
    return last * 3600
  }
}

const daily = every(24, 3.5)
const weekly = every(168, 5.5)

/** One pod that tells of all accounts. */
export function exporter(
  accounts: Recording,
  { namespace = 'dashkeep', up = always(1) }: { namespace?: string; up?: Values } = {},
): Recording {
  const labels = `namespace="${namespace}",pod="dashkeep-exporter-1"`
  return withValues(up, {
    [`dashkeep_build_info{${labels},version="0.1.0"}`]: always(1),
    [`dashkeep_config_good{${labels}}`]: always(1),
    [`dashkeep_archive_readable{${labels}}`]: always(1),
    [`dashkeep_archive_read_timestamp_seconds{${labels}}`]: (hour) => hour * 3600,
    ...accounts,
  })
}

/** What the exporter tells of copies: the number of missing snapshots, or nothing of an unreadable one. */
export function copies(missing: Readonly<Record<string, Values>>): Recording {
  return Object.fromEntries(
    Object.entries(missing).flatMap(([name, values]) => {
      const labels = `namespace="dashkeep",pod="dashkeep-exporter-1",copy="${name}"`
      const readable: Values = (hour) => (values(hour) === undefined ? 0 : 1)
      return [
        [`dashkeep_copy_readable{${labels}}`, readable],
        [`dashkeep_copy_missing_snapshots{${labels}}`, values],
      ]
    }),
  )
}

/** What the exporter tells of an account, by its state; good with a backup each night otherwise. */
export function account(
  name: string,
  {
    lastSuccess = daily,
    state = () => 'good',
    namespace = 'dashkeep',
  }: { lastSuccess?: Values; state?: (hour: number) => string; namespace?: string } = {},
): Recording {
  const labels = `namespace="${namespace}",pod="dashkeep-exporter-1",account="${name}"`
  const states = ['good', 'stale', 'suspect', 'damaged', 'from-future', 'unproven', 'missing']
  const isHeld = (hour: number) => state(hour) !== 'missing'
  return {
    [`dashkeep_last_success_timestamp_seconds{${labels}}`]: (hour) =>
      isHeld(hour) ? lastSuccess(hour) : undefined,
    [`dashkeep_snapshot_suspect{${labels}}`]: (hour) =>
      isHeld(hour) ? Number(state(hour) === 'suspect') : undefined,
    ...Object.fromEntries(
      states.map((one) => [
        `dashkeep_account_state{${labels},state="${one}"}`,
        (hour: number) => (state(hour) === one ? 1 : undefined),
      ]),
    ),
  }
}

/** What the exporter tells of the proofs of an account: when the last one began, and whether one failed. */
export function proofs(
  name: string,
  last: Readonly<Partial<Record<'verify' | 'drill', Values>>>,
  failed: Values = always(0),
): Recording {
  return Object.fromEntries(
    Object.entries(last).flatMap(([kind, values]) => {
      const labels = `namespace="dashkeep",pod="dashkeep-exporter-1",account="${name}",kind="${kind}"`
      return [
        [`dashkeep_last_proof_timestamp_seconds{${labels}}`, values],
        [`dashkeep_proof_failed{${labels}}`, failed],
      ]
    }),
  )
}

/** A worker with one account, by the metrics that the alerts read. */
export function worker(
  changes: Recording = {},
  { up = always(1) }: { up?: Values } = {},
): Recording {
  const labels = 'namespace="dashkeep",pod="dashkeep-worker-1"'
  const one = `${labels},account="shop"`
  return withValues(up, {
    [`dashkeep_build_info{${labels},version="0.1.0"}`]: always(1),
    [`dashkeep_config_good{${labels}}`]: always(1),
    [`dashkeep_failed_runs_total{${labels}}`]: always(0),
    [`dashkeep_failed_notifications_total{${labels},kind="slack"}`]: always(0),
    [`dashkeep_last_success_timestamp_seconds{${one}}`]: daily,
    [`dashkeep_last_run_success{${one}}`]: always(1),
    [`dashkeep_snapshot_suspect{${one}}`]: always(0),
    ...changes,
  })
}

/** What kube-state-metrics tells of a CronJob, with a Job that has succeeded. */
export function cronJob(
  name: string,
  {
    created = longAgo,
    success = name === 'dashkeep' || name === 'dashkeep-prune' ? daily : weekly,
    suspended = 0,
    namespace = 'dashkeep',
  }: { created?: number; success?: Values; suspended?: number; namespace?: string } = {},
): Recording {
  const labels = `namespace="${namespace}",cronjob="${name}"`
  return {
    [`kube_cronjob_created{${labels}}`]: always(created),
    [`kube_cronjob_spec_suspend{${labels}}`]: always(suspended),
    [`kube_cronjob_status_last_successful_time{${labels}}`]: success,
    ...job(name, `${name}-1`, { created: longAgo, namespace }),
  }
}

/** What kube-state-metrics tells of a Job of a CronJob from its creation on, in seconds. */
export function job(
  owner: string,
  name: string,
  {
    created,
    failed = false,
    namespace = 'dashkeep',
  }: { created: number; failed?: boolean; namespace?: string },
): Recording {
  const labels = `namespace="${namespace}",job_name="${name}"`
  const owners = `owner_kind="CronJob",owner_name="${owner}",owner_is_controller="true"`
  return withValues(from(created / 3600, always(1)), {
    [`kube_job_owner{${labels},${owners}}`]: always(1),
    [`kube_job_created{${labels}}`]: always(created),
    ...(failed && {
      [`kube_job_failed{${labels},condition="true"}`]: always(1),
      [`kube_job_failed{${labels},condition="false"}`]: always(0),
    }),
  })
}

/**
 * The CronJobs of the overlay `production`, with a toolbox in which a command failed; `changes` takes
 * the place of some series.
 */
export function cronJobs(changes: Recording = {}): Recording {
  const names = ['dashkeep', 'dashkeep-prune', 'dashkeep-verify', 'dashkeep-drill']
  return {
    ...Object.assign({}, ...names.map((name) => cronJob(name))),
    ...cronJob('dashkeep-toolbox', { success: never, suspended: 1 }),
    ...job('dashkeep-toolbox', 'by-hand', { created: 0, failed: true }),
    ...changes,
  }
}

/** The series while the pod that tells them is up. */
function withValues(up: Values, recording: Recording): Recording {
  const whileUp = Object.entries(recording).map(([series, values]): [string, Values] => [
    series,
    (hour) => (up(hour) === undefined ? undefined : values(hour)),
  ])
  return Object.fromEntries(whileUp)
}

/** A recording as `input_series` of promtool, with a sample each hour up to the last one. */
export function toInputSeries(
  recording: Recording,
  lastHour: number,
): { series: string; values: string }[] {
  const hours = Array.from({ length: lastHour + 1 }, (_, hour) => hour)
  return Object.entries(recording).map(([series, values]) => ({
    series,
    values: hours.map((hour) => values(hour) ?? '_').join(' '),
  }))
}
