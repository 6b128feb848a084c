import type { SnapshotSide } from '../../archive/diff.ts'
import type { Manifest } from '../../archive/manifest.ts'
import { DashkeepError } from '../../errors.ts'
import { waitAtMost } from '../kept.ts'

/** Reads the present objects of configured accounts. Returns no token. */
export interface ServiceReader {
  /** Whether the configuration has a token of the account. */
  has(account: Manifest['account']): boolean
  /** Exports the present objects of these types. */
  export(
    account: Manifest['account'],
    options: { types: readonly string[]; signal: AbortSignal },
  ): Promise<SnapshotSide & AsyncDisposable>
  /** How long a page waits for an export, in milliseconds. The export continues afterwards. */
  readonly patienceMs: number
}

/** The service did not give its objects. */
export class ServiceFailure extends DashkeepError {}

/** An export of the service, or one that still runs. */
type LiveExport =
  | { readonly kind: 'ready'; readonly side: SnapshotSide; readonly exportedAt: Date }
  | { readonly kind: 'running'; readonly startedAt: Date }

/** Fresh exports, each kept for a few minutes, so that several pages compare with the same one. */
export interface LiveExports {
  has(account: Manifest['account']): boolean
  /**
   * The export of the account of a snapshot, with the types of the snapshot. One that is too old, or
   * that was not begun after `newerThan`, is made anew. Throws a `ServiceFailure` with what the service says when it fails.
   */
  get(manifest: Manifest, newerThan?: Date): Promise<LiveExport>
  /** The objects of the account have changed: the next page after a running export makes a new one. */
  expire(accountId: number): void
}

/** An export is fresh for this time, in milliseconds. */
const FRESH_MS = 5 * 60_000
/** Exports kept at once. They are compressed. */
const MAX_EXPORTS = 4

interface Entry {
  readonly startedAt: Date
  readonly stop: AbortController
  readonly running: Promise<SnapshotSide & AsyncDisposable>
  isDone: boolean
  isExpired: boolean
}

/** Keeps exports of the service. Those that run end with `signal`. */
export function createLiveExports(
  service: ServiceReader | undefined,
  { now, signal }: { now: () => Date; signal: AbortSignal },
): LiveExports {
  const entries = new Map<string, Entry>()
  const drop = (key: string) => {
    const entry = entries.get(key)
    entries.delete(key)
    entry?.stop.abort()
    entry?.running.then((side) => side[Symbol.asyncDispose]()).catch(() => {})
  }
  const begin = (key: string, { account, exports }: Manifest, reader: ServiceReader) => {
    drop(key)
    for (const oldest of [...entries.keys()].slice(0, -(MAX_EXPORTS - 1))) drop(oldest)
    const stop = new AbortController()
    const types = exports.map(({ type }) => type)
    const options = { types, signal: AbortSignal.any([signal, stop.signal]) }
    const running = reader.export(account, options)
    const entry: Entry = { startedAt: now(), stop, running, isDone: false, isExpired: false }
    entries.set(key, entry)
    running.then(
      () => {
        entry.isDone = true
      },
      () => {},
    )
    return entry
  }
  return {
    has: (account) => service?.has(account) ?? false,
    async get(manifest, newerThan) {
      if (service === undefined) throw new Error('no service is configured')
      const key = String(manifest.account.id)
      const known = entries.get(key)
      const isUsable = known !== undefined && isFresh(known, now(), newerThan)
      const entry = isUsable ? known : begin(key, manifest, service)
      const side = await waitAtMost(service.patienceMs, entry.running).catch((error) => {
        // The next page tries again.
        if (entries.get(key) === entry) entries.delete(key)
        throw failureOf(error)
      })
      return side === undefined
        ? { kind: 'running', startedAt: entry.startedAt }
        : { kind: 'ready', side, exportedAt: entry.startedAt }
    },
    expire(accountId) {
      const entry = entries.get(String(accountId))
      if (entry !== undefined) entry.isExpired = true
    },
  }
}

/** One that still runs is fresh, so that a slow service gets one request at a time. */
function isFresh(
  { startedAt, isDone, isExpired }: Entry,
  now: Date,
  newerThan: Date | undefined,
): boolean {
  if (!isDone) return true
  return (
    !isExpired &&
    now.getTime() - startedAt.getTime() < FRESH_MS &&
    (newerThan === undefined || startedAt > newerThan)
  )
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof DashkeepError)) return error
  const { message, kind, hint } = error
  return new ServiceFailure(message, { kind, ...(hint !== undefined && { hint }), cause: error })
}
