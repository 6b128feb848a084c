import { readAccountId } from '../../account-id.ts'
import { readManifest } from '../../archive/archive.ts'
import type { SnapshotSide } from '../../archive/diff.ts'
import type { SnapshotName } from '../addresses.ts'
import type { AccountView, Library } from '../library.ts'
import { ServiceFailure } from './live.ts'

/** Used in place of a snapshot's name for the present objects of an account. */
const SERVICE = 'service'

/** One side of a comparison: a snapshot, or the present objects in the service. */
export interface Side extends SnapshotSide {
  readonly view: AccountView
  /** How addresses name it: `<account>/<snapshot>` or `<account>/service`. */
  readonly reference: string
  /** When the service was asked; undefined for a snapshot. */
  readonly exportedAt: Date | undefined
}

/** The service has not answered yet. */
export interface Waiting {
  readonly view: AccountView
  readonly since: Date
}

/** The snapshot of a side. */
export function placeOf({ view, manifest }: Side): SnapshotName {
  return { accountId: view.accountId, snapshot: manifest.snapshot }
}

/** How addresses name the present objects of an account. */
export function serviceReference({ accountId }: AccountView): string {
  return `${accountId}/${SERVICE}`
}

/** Whether the configuration has a token of the account. */
export function hasService({ live }: Library, { newest }: AccountView): boolean {
  return newest !== undefined && live.has(newest.account)
}

/**
 * Finds the side that a reference names; an account alone means its newest snapshot. Undefined when
 * there is no such side. Throws when the manifest cannot be read, and when the service fails.
 */
export async function findSide(
  library: Library,
  reference: string,
  { newerThan, signal }: { newerThan: Date | undefined; signal: AbortSignal },
): Promise<Side | Waiting | undefined> {
  const [account = '', name, ...more] = reference.split('/')
  const accountId = readAccountId(account)
  if (accountId === undefined || more.length > 0) return undefined
  const asked = name === SERVICE ? undefined : name
  const view = await library.account(accountId, signal, asked)
  if (view === undefined) return undefined
  if (name === SERVICE) return findLive(library, view, { newerThan, signal })
  const folder =
    name === undefined ? view.past.at(-1) : view.folders.find(({ snapshot }) => snapshot === name)
  if (folder === undefined) return undefined
  const { snapshot } = folder
  const { manifest } = await readManifest(library.store, accountId, snapshot, { signal })
  const { store } = library
  return { store, manifest, view, reference: `${accountId}/${snapshot}`, exportedAt: undefined }
}

/** The service side. The newest snapshot says which account and which types to export. */
async function findLive(
  { live, store }: Library,
  view: AccountView,
  { newerThan, signal }: { newerThan: Date | undefined; signal: AbortSignal },
): Promise<Side | Waiting | undefined> {
  const { accountId } = view
  const folder = view.past.at(-1) ?? view.folders.at(-1)
  if (folder === undefined) return undefined
  const newest =
    view.newest ?? (await readManifest(store, accountId, folder.snapshot, { signal })).manifest
  if (!live.has(newest.account)) throw noToken(accountId)
  const found = await live.get(newest, newerThan)
  if (found.kind === 'running') return { view, since: found.startedAt }
  const { side, exportedAt } = found
  return { ...side, view, reference: serviceReference(view), exportedAt }
}

function noToken(accountId: number): ServiceFailure {
  return new ServiceFailure(
    `Cannot export the objects of account ${accountId}: the configuration has no token of it`,
    {
      kind: 'usage',
      hint: "start `dashkeep web` with the account's token, or compare two snapshots",
    },
  )
}
