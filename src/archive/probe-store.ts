// Tested by test/e2e/doctor.test.ts

import { randomBytes } from 'node:crypto'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** A permission that an archive needs, and the result of its check. */
export interface StoreRight {
  /** `apart`: a copy is another store than the archive. */
  readonly right: 'write' | 'read' | 'list' | 'apart' | 'retention' | 'lock' | 'delete'
  readonly error: Error | undefined
  /** End of the lock on the probe's bytes. It also applies after the probe was removed. */
  readonly lockedUntil?: Date | undefined
  /** The key of a probe that could not be removed. */
  readonly left?: string | undefined
}

interface ProbeOptions {
  readonly now: Date
  /** How long the store locks files; undefined without locks. */
  readonly lockMs: number | undefined
  /** The archive, when the store must be a copy of it: the archive must not show the probe. */
  readonly archive?: ObjectStore | undefined
  readonly signal: AbortSignal
}

/** Folder of the probes, beside the folders of accounts. Listings of snapshots ignore it. */
const PROBE_FOLDER = 'doctor'

/** Length of a probe's lock. Long enough for clocks that differ a little. */
const PROBE_LOCK_MS = 5 * 60_000

/** Longest time for removing a probe, also after an interruption. */
const REMOVAL_MS = 10_000

const metadata = { 'taken-at': '1970-01-01T00:00:00.000Z' }

/**
 * Checks the permissions in the store by writing small objects. Yields one permission at a time. Stops
 * after a write that fails. Always removes its objects, also after an interruption, and reports those
 * that it cannot remove.
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
    for await (const right of askRights(store, key, options)) {
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
  { archive, signal }: ProbeOptions,
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
  if (archive !== undefined) {
    yield await attempt('apart', async () => {
      if ((await archive.get(key, { maxBytes: 1024, signal })) === undefined) return
      throw new DashkeepError(`Cannot use ${store.url} as a copy: that is the archive itself`, {
        hint: 'name another store; a second address of the same bucket is no copy',
      })
    })
  }
  if (store.lockedUntil) {
    let lockedUntil: Date | undefined
    const asked = await attempt('retention', async () => {
      lockedUntil = await store.lockedUntil?.(key, { signal })
    })
    yield { ...asked, lockedUntil }
  }
}

/** Writes a probe with a lock of a few minutes, in the configured mode, and reads the lock back. */
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
      throw different(key, 'has a lock that ends too early')
    }
  })
  return { ...result, lockedUntil }
}

/** Removes a probe, if it exists. Has its own time limit. */
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
    hint: 'this store lacks what an archive needs; use another store',
  })
}
