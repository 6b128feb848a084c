import { randomBytes } from 'node:crypto'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** One thing that may be done in the store, or not, and how asking for it ended. */
export interface StoreRight {
  readonly right: 'write' | 'read' | 'list' | 'retention' | 'lock' | 'delete'
  readonly error: Error | undefined
  /** Until when a lock keeps the probe's bytes, also when the probe itself has been removed. */
  readonly lockedUntil?: Date | undefined
  /** The key of a probe that is still there although it should not be. */
  readonly left?: string | undefined
}

interface ProbeOptions {
  readonly now: Date
  /** How long the store locks what is written with a lock, when it does. */
  readonly lockMs: number | undefined
  readonly signal: AbortSignal
}

/** Probes lie beside the accounts' folders, where no listing takes them for a snapshot. */
const PROBE_FOLDER = 'doctor'

/** Long enough for clocks that differ a little, short enough to wait for. */
const PROBE_LOCK_MS = 5 * 60_000

/** How long removing a probe may take, also after an interruption. */
const REMOVAL_MS = 10_000

const metadata = { 'taken-at': '1970-01-01T00:00:00.000Z' }

/**
 * Finds out what may be done in the store with small objects of its own. Yields a right at a time;
 * after a write that failed there is nothing further to ask. The objects are removed in every case,
 * after an interruption too; one that stays is named.
 */
export async function* probeStore(
  store: ObjectStore,
  options: ProbeOptions,
): AsyncGenerator<StoreRight> {
  const { signal, lockMs } = options
  const name = randomBytes(8).toString('hex')
  const key = `${PROBE_FOLDER}/${name}`
  const lockedKey = `${key}-locked`
  let isWritten = false
  let lockedUntil: Date | undefined
  try {
    for await (const right of askRights(store, key, signal)) {
      isWritten ||= right.right === 'write' && right.error === undefined
      lockedUntil ??= right.lockedUntil
      yield right
      if (signal.aborted) return
    }
    if (isWritten && lockMs !== undefined) {
      const lock = await probeLock(store, lockedKey, { ...options, lockMs })
      lockedUntil ??= lock.lockedUntil
      yield lock
    }
  } finally {
    const removed = await removeProbe(store, key)
    const kept = lockMs === undefined ? undefined : await removeProbe(store, lockedKey)
    if (isWritten || removed.left !== undefined) yield { ...removed, lockedUntil }
    if (kept?.left !== undefined) yield { ...kept, lockedUntil }
  }
}

async function* askRights(
  store: ObjectStore,
  key: string,
  signal: AbortSignal,
): AsyncGenerator<StoreRight> {
  const body = randomBytes(64)
  const written = await attempt('write', () => store.put(key, body, { metadata, signal }))
  yield written
  if (written.error !== undefined) return
  yield await attempt('read', async () => {
    const found = await store.get(key, { maxBytes: 1024, signal })
    if (found === undefined || !body.equals(found)) throw different(key, 'reads back differently')
  })
  yield await attempt('list', async () => {
    for await (const object of store.list(`${PROBE_FOLDER}/`, { signal })) {
      if (object.key === key) return
    }
    throw different(key, 'is not listed')
  })
  if (store.lockedUntil) {
    let lockedUntil: Date | undefined
    const asked = await attempt('retention', async () => {
      lockedUntil = await store.lockedUntil?.(key, { signal })
    })
    yield { ...asked, lockedUntil }
  }
}

/** Locks a probe for a few minutes, in the configured mode, and asks for the lock. */
async function probeLock(
  store: ObjectStore,
  key: string,
  { now, lockMs, signal }: ProbeOptions & { lockMs: number },
): Promise<StoreRight> {
  const until = new Date(now.getTime() + PROBE_LOCK_MS)
  const lockFrom = new Date(until.getTime() - lockMs)
  let lockedUntil: Date | undefined
  const result = await attempt('lock', async () => {
    await store.put(key, randomBytes(64), { metadata, lockFrom, signal })
    lockedUntil = await store.lockedUntil?.(key, { signal })
    if (lockedUntil === undefined || lockedUntil < until) {
      throw different(key, 'is not locked as long as it should be')
    }
  })
  return { ...result, lockedUntil }
}

/** Removes a probe, or nothing when it was never stored, with a time of its own. */
async function removeProbe(store: ObjectStore, key: string): Promise<StoreRight> {
  const signal = AbortSignal.timeout(REMOVAL_MS)
  const removed = await attempt('delete', () => store.remove(key, { signal }))
  const left = await store.get(key, { maxBytes: 1024, signal }).catch(() => undefined)
  if (left === undefined) return removed
  return { ...removed, error: removed.error ?? different(key, 'is still there'), left: key }
}

async function attempt(right: StoreRight['right'], step: () => Promise<void>): Promise<StoreRight> {
  try {
    await step()
    return { right, error: undefined }
  } catch (error) {
    return { right, error: error as Error }
  }
}

function different(key: string, state: string): DashkeepError {
  return new DashkeepError(`Cannot rely on the store: the object ${key} ${state}`, {
    hint: 'this store does not do what an archive needs; use another',
  })
}
