import { randomBytes } from 'node:crypto'
import type { RestoreAction } from '../../restore/plan.ts'
import type { BasketGroup } from './baskets.ts'
import type { RestoreRequest } from './request.ts'

/** A restore that somebody has confirmed. */
export interface RestoreJob extends Pick<BasketGroup, 'accountId' | 'snapshot'> {
  /** Part of its address. */
  readonly id: string
  /** Of the page on which it was confirmed. */
  readonly key: string
  readonly user: string
  readonly accountName: string
  readonly takenAt: Date
  readonly request: RestoreRequest
  readonly startedAt: Date
  progress: JobProgress
  /** How it ended; undefined while it runs. */
  end?: (JobEnd & { readonly endedAt: Date }) | undefined
}

/** How far a restore is. */
interface JobProgress {
  readonly step: 'reading' | 'backing up' | 'sending'
  readonly sent: number
  /** Number of objects to send; 0 until that is known. */
  readonly total: number
}

/** How a restore ended. */
export type JobEnd =
  /** A fresh export gave another plan than the confirmed one. Nothing was sent. */
  | { readonly kind: 'changed' }
  /** Nothing was sent. */
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string | undefined }
  | SentEnd

/** The result of a restore that sent objects. */
export interface SentEnd {
  readonly kind: 'done' | 'partly' | 'failed' | 'interrupted'
  /** The snapshot of the objects before the restore. */
  readonly before: string | undefined
  readonly total: number
  /** Objects that are different in the service and were not to be overwritten. */
  readonly left: number
  /** Objects that were identical in the service before. */
  readonly same: number
  /** Objects that a fresh export confirms; undefined without one. */
  readonly restored: number | undefined
  /** Sent and left objects. Those that are not restored come first. */
  readonly objects: readonly EndedObject[]
  /** What the service named as failed. */
  readonly failed: readonly string[]
  /** What the service named as ignored; empty when every object is restored. */
  readonly ignored: readonly string[]
  readonly notSent: number
  readonly errors: readonly { readonly message: string; readonly hint: string | undefined }[]
  /** Why there was no fresh export. */
  readonly unchecked: string | undefined
}

/** An object that was to be sent and how a fresh export shows it, or an object that was left. */
export interface EndedObject {
  readonly id: string
  readonly title: string | undefined
  readonly action: RestoreAction
  readonly outcome: 'restored' | 'differs' | 'absent' | 'unknown' | 'left'
}

/** The restores of a server: those that run, and the newest that ended. */
export interface Registry {
  /** Returns a key for a page on which a user can confirm a plan. Each key starts one restore. */
  issueKey(user: string): string
  /**
   * Starts a restore when the user's key is new and no restore into the account runs. Otherwise
   * returns the restore that the key started, or the running one. Undefined for a key that is not
   * known, or not any more. `run` must not throw.
   */
  start(
    wanted: Omit<RestoreJob, 'id' | 'startedAt' | 'progress' | 'end'>,
    run: (job: RestoreJob) => Promise<JobEnd>,
  ): { readonly kind: 'started' | 'repeated' | 'busy'; readonly job: RestoreJob } | undefined
  get(id: string): RestoreJob | undefined
  /** The restore that a key of the user started. */
  startedWith(key: string, user: string): RestoreJob | undefined
  running(accountId: number): RestoreJob | undefined
  /** Newest first. */
  list(): readonly RestoreJob[]
  /** Resolves when no restore runs. */
  settled(): Promise<void>
}

/** Ended restores that are kept. */
const MAX_ENDED = 100
/** Plans that can be confirmed at the same time. */
const MAX_KEYS = 1000

/** Creates the registry of a server. */
export function createRegistry({ now }: { now: () => Date }): Registry {
  const jobs = new Map<string, RestoreJob>()
  const runs = new Set<Promise<void>>()
  /** Keys that have started nothing, with their users. */
  const keys = new Map<string, string>()
  const all = () => [...jobs.values()]
  const running = (accountId: number) =>
    all().find((job) => job.accountId === accountId && job.end === undefined)
  const startedWith = (key: string, user: string) =>
    all().find((job) => job.key === key && job.user === user)
  return {
    issueKey(user) {
      const key = randomId()
      keys.set(key, user)
      for (const oldest of [...keys.keys()].slice(0, -MAX_KEYS)) keys.delete(oldest)
      return key
    },
    start(wanted, run) {
      const { key, user, accountId } = wanted
      const earlier = startedWith(key, user)
      if (earlier !== undefined) return { kind: 'repeated', job: earlier }
      if (keys.get(key) !== user) return undefined
      const other = running(accountId)
      if (other !== undefined) return { kind: 'busy', job: other }
      keys.delete(key)
      const id = randomId()
      const progress = { step: 'reading', sent: 0, total: 0 } as const
      const job: RestoreJob = { ...wanted, id, startedAt: now(), progress }
      jobs.set(id, job)
      const ended = run(job).then((end) => {
        job.end = { ...end, endedAt: now() }
        runs.delete(ended)
        const endedJobs = all().filter((one) => one.end)
        for (const { id: oldest } of endedJobs.slice(0, -MAX_ENDED)) jobs.delete(oldest)
      })
      runs.add(ended)
      return { kind: 'started', job }
    },
    get: (id) => jobs.get(id),
    startedWith,
    running,
    list: () => all().toReversed(),
    async settled() {
      await Promise.all(runs)
    },
  }
}

function randomId(): string {
  return randomBytes(16).toString('base64url')
}
