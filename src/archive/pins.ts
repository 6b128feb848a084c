import { readAccountId } from '../account-id.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { pinFolder } from './side-folders.ts'
import { snapshotNamePattern } from './snapshot-name.ts'

/** A pin holds a short note. */
const MAX_PIN_BYTES = 64 * 1024

/** Pins a snapshot, so that retention never removes it. Pinning it again replaces the note. */
export async function pinSnapshot(
  store: ObjectStore,
  pin: { accountId: number; snapshot: string; pinnedAt: Date; note: string | undefined },
  options: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const { accountId, snapshot, pinnedAt, note } = pin
  const body = { snapshot, pinnedAt: pinnedAt.toISOString(), ...(note !== undefined && { note }) }
  const bytes = Buffer.from(`${JSON.stringify(body)}\n`)
  await store.put(pinKey(accountId, snapshot), bytes, options)
}

/** Removes a pin. Succeeds when there is none. */
export async function unpinSnapshot(
  store: ObjectStore,
  accountId: number,
  snapshot: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await store.remove(pinKey(accountId, snapshot), options)
}

/** Returns the names of an account's pinned snapshots. Reads only keys. */
export async function listPins(
  store: ObjectStore,
  accountId: number,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Set<string>> {
  const prefix = pinKey(accountId, '')
  const keys = await listPinKeys(store, prefix, options)
  return new Set(keys.map((key) => key.slice(prefix.length)))
}

/**
 * Copies the pins that the target does not have, of some accounts or of all. Returns how many. A pin
 * that only the target has stays there.
 */
export async function copyPins(
  { source, target }: { source: ObjectStore; target: ObjectStore },
  { only, signal }: { only?: ReadonlySet<number> | undefined; signal?: AbortSignal | undefined },
): Promise<number> {
  const [first] = only?.size === 1 ? only : []
  const prefix = first === undefined ? `${pinFolder}/` : pinKey(first, '')
  const isChosen = (key: string) => only?.has(Number(key.split('/')[1])) ?? true
  const pins = (await listPinKeys(source, prefix, { signal })).filter(isChosen)
  const there = new Set(pins.length > 0 ? await listPinKeys(target, prefix, { signal }) : [])
  let copied = 0
  for (const key of pins) {
    if (there.has(key)) continue
    const note = await source.get(key, { maxBytes: MAX_PIN_BYTES, signal })
    if (note === undefined) continue
    await target.put(key, note, { signal })
    copied += 1
  }
  return copied
}

async function listPinKeys(
  store: ObjectStore,
  prefix: string,
  options: { signal?: AbortSignal | undefined },
): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix, options)) {
    const [, account = '', snapshot = '', ...rest] = key.split('/')
    const isPin = readAccountId(account) !== undefined && snapshotNamePattern.test(snapshot)
    if (isPin && rest.length === 0) keys.push(key)
  }
  return keys
}

function pinKey(accountId: number, snapshot: string): string {
  return `${pinFolder}/${accountId}/${snapshot}`
}
