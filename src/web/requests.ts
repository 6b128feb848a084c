import type { Context, Hono } from 'hono'
import { readAccountId } from '../account-id.ts'
import { readManifest } from '../archive/archive.ts'
import type { Manifest } from '../archive/manifest.ts'
import { MAX_PARAMETER } from './addresses.ts'
import { type FoundObject, readObject } from './find-object.ts'
import { layout, type Page } from './layout.ts'
import type { AccountView, Library, SnapshotLine } from './library.ts'
import type { RestoreControls } from './restore/controls.ts'

/** Handlers of the pages, and what they know of each request. */
export type App = Hono<{ Variables: RequestVariables }>
/** A request with its answer, as a handler gets it. */
export type AppContext = Context<{ Variables: RequestVariables }>

interface RequestVariables {
  /** Who sends the request. */
  user: string
  /** The name that the pages show for the user; undefined for the only browser. */
  userName: string | undefined
  isRestoreAllowed: boolean
  /** Undefined when the pages are read only, and for a reader without access. */
  restore: RestoreControls | undefined
  /** The fields of a form, once its sender is checked. */
  form: URLSearchParams
}

/** Characters of a text to search for. The forms allow no more. */
export const MAX_SEARCH = 200

/** Aborts when the reader leaves or the server ends. */
export function signalOf({ read }: Library, { req }: AppContext): AbortSignal {
  return AbortSignal.any([read.signal, req.raw.signal])
}

/** The account that the address names; undefined when the archive holds nothing of it. */
export async function findAccount(
  library: Library,
  { req }: AppContext,
  signal: AbortSignal,
): Promise<AccountView | undefined> {
  const accountId = readAccountId(req.param('account') ?? '')
  return accountId === undefined ? undefined : library.account(accountId, signal)
}

/** A snapshot that an address names, with its account. */
export interface FoundSnapshot {
  readonly view: AccountView
  readonly line: SnapshotLine & { readonly manifest: Manifest }
}

/** The snapshot that the address names. Throws when its manifest cannot be read. */
export async function findSnapshot(
  library: Library,
  { req }: AppContext,
  signal: AbortSignal,
): Promise<FoundSnapshot | undefined> {
  const name = req.param('snapshot')
  const accountId = readAccountId(req.param('account') ?? '')
  if (accountId === undefined || name === undefined) return undefined
  return findSnapshotNamed(library, { accountId, snapshot: name }, signal)
}

/** The snapshot of this name; undefined when there is none. Throws when its manifest cannot be read. */
export async function findSnapshotNamed(
  library: Library,
  { accountId, snapshot }: { accountId: number; snapshot: string },
  signal: AbortSignal,
): Promise<FoundSnapshot | undefined> {
  const view = await library.account(accountId, signal, snapshot)
  const folder = view?.folders.find((one) => one.snapshot === snapshot)
  if (view === undefined || folder === undefined) return undefined
  const [line] = await library.snapshots(view, [folder], signal)
  const { manifest } = await readManifest(library.store, accountId, snapshot, { signal })
  return line && { view, line: { ...line, manifest } }
}

/** The object that the address names; undefined when there is none. */
export async function findObject(
  library: Library,
  context: AppContext,
  signal: AbortSignal,
): Promise<{ view: AccountView; manifest: Manifest; object: FoundObject } | undefined> {
  const id = parameter(context, 'id')
  const found = id === '' ? undefined : await findSnapshot(library, context, signal)
  if (found === undefined) return undefined
  const { view, line } = found
  const { store, read } = library
  const side = { store, manifest: line.manifest }
  const object = await readObject(side, { id, read: { ...read, signal } })
  return object && { view, manifest: line.manifest, object }
}

/** A parameter of the address; empty when it is not there or too long. */
export function parameter({ req }: AppContext, name: string): string {
  const text = req.query(name) ?? ''
  return text.length > MAX_PARAMETER ? '' : text
}

/** Answers with a page. */
export function show(
  context: AppContext,
  page: Page,
  status: 200 | 400 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 500 | 502 = 200,
): Response | Promise<Response> {
  const [user, restore] = [context.get('userName'), context.get('restore')]
  const isRestoreAllowed = context.get('isRestoreAllowed')
  const section = sectionOf(context.req.path)
  return context.html(layout(page, { section, user, restore, isRestoreAllowed }), status)
}

/** The page of the navigation that leads to an address. Accounts lead to snapshots and objects. */
function sectionOf(path: string): string {
  const [, first = ''] = path.split('/')
  return first === 'accounts' ? '/' : `/${first}`
}
