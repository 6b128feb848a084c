/** Longer ids and other parameters of an address are refused. In characters. */
export const MAX_PARAMETER = 4000

/** Whether an address can name the object. Addresses hold no halves of surrogate pairs. */
export function isAddressable(id: string): boolean {
  return id !== '' && id.length <= MAX_PARAMETER && id.isWellFormed()
}

/** An address on this server with the parameters that are given. */
export function address(
  path: string,
  parameters: Record<string, string | number | undefined> = {},
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** A snapshot, as addresses name it. */
export interface SnapshotName {
  readonly accountId: number
  readonly snapshot: string
}

/** The page of an account. */
export function accountPath(accountId: number): string {
  return `/accounts/${accountId}`
}

/** The page of a snapshot. */
export function snapshotPath({ accountId, snapshot }: SnapshotName): string {
  return `${accountPath(accountId)}/snapshots/${snapshot}`
}

/** The page of an object of a snapshot. */
export function objectPath(snapshot: SnapshotName, id: string): string {
  return address(`${snapshotPath(snapshot)}/object`, { id })
}

/** The page with all versions of an object. */
export function versionsPath(accountId: number, id: string): string {
  return address(`${accountPath(accountId)}/history`, { id })
}
