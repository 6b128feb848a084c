import type { Manifest } from '../../archive/manifest.ts'
import { cleanLine } from '../../clean-text.ts'
import { DashkeepError, hintOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { objectsToSend, type RestoreAction } from '../../restore/plan.ts'
import { chooseFrom, type Restoring } from '../../restore/restoring.ts'
import { refuseSuspect, snapshotSource } from '../../restore/source.ts'
import { exitCodes } from '../../run/exit-codes.ts'
import {
  digestOf,
  errorsOfRestore,
  exitCodeOfRestore,
  type PreparedRestore,
  type RestoreResult,
} from '../../run/restore-to-service.ts'
import type { Library } from '../library.ts'
import type { RestoreDesk } from './desk.ts'
import type { EndedObject, JobEnd, RestoreJob, SentEnd } from './registry.ts'
import type { RestoreRequest } from './request.ts'

/**
 * Reads a snapshot and chooses the objects of a request. Throws a `usage` error for a suspect snapshot
 * and for a name that is not an id.
 */
export async function chooseRequested(
  { store, read }: Library,
  manifest: Manifest,
  {
    names,
    request,
    signal,
  }: { names: readonly string[] | undefined; request: RestoreRequest; signal: AbortSignal },
): Promise<Restoring> {
  refuseSuspect(manifest, request)
  const source = snapshotSource(store, manifest, { ...read, signal })
  const restoring = await chooseFrom(source, manifest, { names, withNeeds: request.withNeeds })
  const ids = new Set(restoring.selection.objects.map(({ id }) => id))
  const other = names?.find((name) => !ids.has(name))
  if (other === undefined) return restoring
  throw new DashkeepError(
    `Cannot choose the object ${other}: no object of the snapshot has this id`,
    {
      kind: 'usage',
      hint: 'choose objects on the page of the snapshot',
    },
  )
}

/** What `runJob` works with. */
interface JobOptions {
  readonly library: Library
  readonly desk: RestoreDesk
  readonly log: Logger
  readonly manifest: Manifest
  readonly names: readonly string[] | undefined
  /** Of the plan that was confirmed. */
  readonly digest: string
  /** Called with the ids of the objects that are now in the service as in the snapshot. */
  readonly onRestored: (ids: readonly string[]) => void
}

/**
 * Plans a confirmed restore again and carries it out when the plan is still the same. Reports its
 * progress in the job. Logs the user, the begin and the end. Never throws.
 */
export async function runJob(job: RestoreJob, options: JobOptions): Promise<JobEnd> {
  const { log } = options
  const { user, accountId, snapshot, id } = job
  const about = { user, account: accountId, snapshot, restore: id }
  log.info({ ...about, objects: options.names?.length ?? 'all' }, 'restore started')
  const end = await planAndApply(job, options).catch((error: Error): JobEnd => refuse(error, log))
  const { kind } = end
  if (kind === 'done') log.info({ ...about, ...countsOf(end) }, 'restored')
  else if (kind === 'changed') log.warn(about, 'restore not begun: the service has changed')
  else if (kind === 'refused') log.error({ ...about, reason: end.message }, 'restore refused')
  else log.error({ ...about, outcome: kind, ...countsOf(end) }, 'restore incomplete')
  return end
}

function countsOf({ total, restored, notSent, failed, before, errors }: SentEnd) {
  const reasons = errors.length > 0 ? errors.map(({ message }) => message) : undefined
  return { total, restored, notSent, failed: failed.length, before, reasons }
}

function refuse(error: Error, log: Logger): JobEnd {
  if (error instanceof DashkeepError) {
    return { kind: 'refused', message: error.message, hint: error.hint }
  }
  if (error.name === 'AbortError') {
    return { kind: 'refused', message: 'The server was stopped', hint: undefined }
  }
  log.error({ error: error.stack }, 'a restore failed')
  return {
    kind: 'refused',
    message: 'This is a bug in dashkeep',
    hint: 'the log of `dashkeep web` has the details',
  }
}

async function planAndApply(job: RestoreJob, options: JobOptions): Promise<JobEnd> {
  const { library, desk, manifest, names, digest } = options
  const { request } = job
  const { signal } = library.read
  const restoring = await chooseRequested(library, manifest, { names, request, signal })
  await using prepared = await desk.prepare(restoring, request, {
    signal,
    onStep(step, plan) {
      const total = plan === undefined ? 0 : objectsToSend(plan).length
      job.progress = { step, sent: 0, total }
    },
    onBatch({ objects }) {
      job.progress = { ...job.progress, sent: job.progress.sent + objects }
    },
  })
  if (digestOf(prepared) !== digest) return { kind: 'changed' }
  const result = await prepared.apply()
  const { outcomes } = result.applied
  const restored = prepared.plan.objects.filter(
    (planned) => planned.action === 'same' || outcomes?.get(planned) === 'restored',
  )
  options.onRestored(restored.map(({ entry }) => entry.id))
  return summarize(prepared, result, signal)
}

/** Objects that a result lists, and characters of their titles. */
const MAX_LISTED = 1000
const MAX_TEXT = 300

const kinds: Record<number, SentEnd['kind']> = {
  [exitCodes.done]: 'done',
  [exitCodes.partly]: 'partly',
}

/** What is kept of a restore: neither hits nor states. */
function summarize(
  { plan }: PreparedRestore,
  { before, applied }: RestoreResult,
  signal: AbortSignal,
): SentEnd {
  const { outcomes, failed, ignored, notSent, unchecked } = applied
  const countOf = (wanted: RestoreAction) =>
    plan.objects.filter(({ action }) => action === wanted).length
  const objects = plan.objects
    .filter(({ action }) => action !== 'same')
    .map((planned): EndedObject => {
      const { entry, action } = planned
      const outcome = action === 'leave' ? 'left' : (outcomes?.get(planned) ?? 'unknown')
      const title = entry.title && cleanLine(entry.title, MAX_TEXT)
      return { id: entry.id, title, action, outcome }
    })
  const restored = objects.filter(({ outcome }) => outcome === 'restored')
  const others = objects.filter(({ outcome }) => outcome !== 'restored')
  const kind = signal.aborted
    ? 'interrupted'
    : (kinds[exitCodeOfRestore(plan, applied)] ?? 'failed')
  return {
    kind,
    before,
    total: objectsToSend(plan).length,
    left: countOf('leave'),
    same: countOf('same'),
    restored: outcomes && restored.length,
    objects: [...others, ...restored].slice(0, MAX_LISTED),
    failed: listed(failed),
    ignored: kind === 'done' ? [] : listed(ignored),
    notSent,
    errors: errorsOfRestore(applied).map((error) => ({
      message: error.message,
      hint: hintOf(error),
    })),
    unchecked: unchecked?.message,
  }
}

function listed(names: readonly string[]): string[] {
  return names.slice(0, MAX_LISTED).map((name) => cleanLine(name, MAX_TEXT))
}
