import { randomBytes } from 'node:crypto'
import { DashkeepError } from '../errors.ts'
import type { ObjectStore } from '../store/object-store.ts'

/** One of the four rights a backup needs, and how asking for it ended. */
export interface StoreRight {
  readonly right: 'write' | 'read' | 'list' | 'delete'
  readonly error: Error | undefined
}

/** Probes lie beside the accounts' folders, where no listing takes them for a snapshot. */
const PROBE_FOLDER = 'doctor'

/**
 * Finds out what may be done in the store with a small object of its own, which it removes again.
 * Yields a right at a time; after a write that failed there is nothing further to ask.
 */
export async function* probeStore(
  store: ObjectStore,
  { signal }: { signal?: AbortSignal | undefined } = {},
): AsyncGenerator<StoreRight> {
  const key = `${PROBE_FOLDER}/${randomBytes(8).toString('hex')}`
  const body = randomBytes(64)
  const metadata = { 'taken-at': '1970-01-01T00:00:00.000Z' }
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
  yield await attempt('delete', async () => {
    await store.remove(key, { signal })
    const left = await store.get(key, { maxBytes: 1024, signal })
    if (left !== undefined) throw different(key, 'is still there after its deletion')
  })
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
