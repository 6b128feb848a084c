import { readAccountId } from '../account-id.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { snapshotNamePattern } from './snapshot-name.ts'

/** Pins lie beside the accounts' folders: a manifest is never written again. */
const PIN_FOLDER = 'pins'

/** Pins a snapshot, so that no retention removes it. Pinning it again changes the note. */
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

/** Takes a pin away. Succeeds when there was none. */
export async function unpinSnapshot(
  store: ObjectStore,
  accountId: number,
  snapshot: string,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await store.remove(pinKey(accountId, snapshot), options)
}

/** The names of an account's pinned snapshots, from the keys alone. */
export async function listPins(
  store: ObjectStore,
  accountId: number,
  options: { signal?: AbortSignal | undefined } = {},
): Promise<Set<string>> {
  const prefix = pinKey(accountId, '')
  const pins = new Set<string>()
  for await (const { key } of store.list(prefix, options)) {
    const name = key.slice(prefix.length)
    if (snapshotNamePattern.test(name)) pins.add(name)
  }
  return pins
}

/** Whether a key is that of the folder of all pins, or of those of an account. */
export function isPinFolder(key: string): boolean {
  const [folder, account, ...rest] = key.split('/')
  if (folder !== PIN_FOLDER || rest.length > 0) return false
  return account === undefined || readAccountId(account) !== undefined
}

function pinKey(accountId: number, snapshot: string): string {
  return `${PIN_FOLDER}/${accountId}/${snapshot}`
}
