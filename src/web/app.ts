import { type Context, Hono } from 'hono'
import { readAccountId } from '../account-id.ts'
import { readManifest } from '../archive/archive.ts'
import type { Manifest } from '../archive/manifest.ts'
import { DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { nameFiles } from '../objects/file-names.ts'
import { dashboardStyle } from './dashboard/style.ts'
import { readObject } from './find-object.ts'
import { layout, type Page } from './layout.ts'
import type { AccountView, Library, SnapshotLine } from './library.ts'
import { accountPage } from './pages/account.ts'
import { accountsPage } from './pages/accounts.ts'
import { comparePage } from './pages/compare.ts'
import { historyPage } from './pages/history.ts'
import { objectPage } from './pages/object.ts'
import { describeFailure, notAllowed, notFound, signInPage } from './pages/refusals.ts'
import { snapshotPage } from './pages/snapshot.ts'
import { type Access, type Gate, isOwnHost, secureHeaders } from './security.ts'
import { style } from './style.ts'

type App = Hono<{ Variables: { user: string } }>
type AppContext = Context<{ Variables: { user: string } }>

/** Ids, searches and pages longer than this are refused. */
const MAX_PARAMETER = 4000

/** Creates the handlers of all pages. Nothing is answered before host, method and user are checked. */
export function createApp(
  library: Library,
  { access, gate, log }: { access: Access; gate: Gate; log: Logger },
): App {
  const app: App = new Hono()
  app.use(secureHeaders)
  app.onError((error, context) => answerError(context as AppContext, error, log))
  app.notFound((context) => show(context as AppContext, notFound(), 404))
  guard(app, access, gate)
  addPages(app, library)
  return app
}

function guard(app: App, access: Access, gate: Gate): void {
  app.use(async (context, next) => {
    if (!isOwnHost(access, context.req.header('host'))) {
      return context.text('This server does not answer for this host name.\n', 421)
    }
    if (!['GET', 'HEAD'].includes(context.req.method)) {
      context.header('Allow', 'GET, HEAD')
      return show(context, notAllowed(), 405)
    }
    return next()
  })
  app.get('/style.css', (context) =>
    context.body(style + dashboardStyle, 200, { 'Content-Type': 'text/css; charset=utf-8' }),
  )
  app.get('/open', (context) => {
    // Previews of addresses ask with HEAD; they must not use the token up.
    const isAsked = context.req.method === 'GET'
    if (isAsked && gate.exchange(context, context.req.query('token') ?? ''))
      return context.redirect('/', 303)
    return show(context, signInPage('/', access), 403)
  })
  app.use(async (context, next) => {
    const user = gate.userOf(context)
    if (user === undefined) {
      const { pathname, search } = new URL(context.req.url)
      return show(context, signInPage(`${pathname}${search}`, access), 403)
    }
    if (access.kind === 'proxy') context.set('user', user)
    return next()
  })
}

function addPages(app: App, library: Library): void {
  const signalOf = ({ req }: AppContext) => AbortSignal.any([library.read.signal, req.raw.signal])
  app.get('/', async (context) => show(context, await accountsPage(library, signalOf(context))))

  app.get('/accounts/:account', async (context) => {
    const signal = signalOf(context)
    const view = await findAccount(library, context, signal)
    if (view === undefined) return context.notFound()
    const { year, page } = context.req.query()
    return show(context, await accountPage(library, view, { year, page, signal }))
  })

  app.get('/accounts/:account/history', async (context) => {
    const signal = signalOf(context)
    const view = await findAccount(library, context, signal)
    const id = parameter(context, 'id')
    const page = view && id !== '' ? await historyPage(library, view, { id, signal }) : undefined
    return page === undefined ? context.notFound() : show(context, page)
  })

  app.get('/accounts/:account/snapshots/:snapshot', async (context) => {
    const signal = signalOf(context)
    const found = await findSnapshot(library, context, signal)
    if (found === undefined) return context.notFound()
    const [q, type, sort, page] = ['q', 'type', 'sort', 'page'].map((name) =>
      parameter(context, name),
    ) as [string, string, string, string]
    const query = { q, type, sort, page, changed: parameter(context, 'changed') === '1' }
    return show(context, await snapshotPage(library, found, { query, signal }))
  })

  const object = '/accounts/:account/snapshots/:snapshot/object'
  app.get(object, async (context) => {
    const signal = signalOf(context)
    const found = await findObject(library, context, signal)
    return found === undefined
      ? context.notFound()
      : show(context, await objectPage(library, { ...found, signal }))
  })
  app.get(`${object}/compare`, async (context) => {
    const signal = signalOf(context)
    const after = await findObject(library, context, signal)
    const before = await findObject(library, context, signal, parameter(context, 'with'))
    return before === undefined || after === undefined
      ? context.notFound()
      : show(context, await comparePage(library, after.view, { before, after, signal }))
  })
  app.get(`${object}/:form{raw|download}`, async (context) => {
    const found = await findObject(library, context, signalOf(context))
    if (found === undefined) return context.notFound()
    const { id, bytes } = found.object
    const [name] = nameFiles([id])
    const isRaw = context.req.param('form') === 'raw'
    return context.body(Uint8Array.from(bytes), 200, {
      'Content-Type': isRaw ? 'text/plain; charset=utf-8' : 'application/octet-stream',
      ...(!isRaw && { 'Content-Disposition': `attachment; filename="${name}.json"` }),
    })
  })
}

/** The account that the address names; undefined when the archive holds nothing of it. */
async function findAccount(
  library: Library,
  { req }: AppContext,
  signal: AbortSignal,
): Promise<AccountView | undefined> {
  const accountId = readAccountId(req.param('account') ?? '')
  return accountId === undefined ? undefined : library.account(accountId, signal)
}

interface FoundSnapshot {
  readonly view: AccountView
  readonly line: SnapshotLine & { readonly manifest: Manifest }
}

/** The snapshot `name`, or the one that the address names. Throws when its manifest cannot be read. */
async function findSnapshot(
  library: Library,
  context: AppContext,
  signal: AbortSignal,
  name = context.req.param('snapshot'),
): Promise<FoundSnapshot | undefined> {
  const view = await findAccount(library, context, signal)
  const folder = view?.folders.find(({ snapshot }) => snapshot === name)
  if (view === undefined || folder === undefined) return undefined
  const [line] = await library.snapshots(view, [folder], signal)
  const { manifest } = await readManifest(library.store, view.accountId, folder.snapshot, {
    signal,
  })
  return line && { view, line: { ...line, manifest } }
}

/** The object that the address names, in the snapshot `name` or the one of the address. */
async function findObject(
  library: Library,
  context: AppContext,
  signal: AbortSignal,
  name?: string,
) {
  const id = parameter(context, 'id')
  const found = id === '' ? undefined : await findSnapshot(library, context, signal, name)
  if (found === undefined) return undefined
  const { view, line } = found
  const object = await readObject(library, line.manifest, { id, signal })
  return object && { view, manifest: line.manifest, object }
}

/** A parameter of the address; empty when it is not there or too long. */
function parameter({ req }: AppContext, name: string): string {
  const text = req.query(name) ?? ''
  return text.length > MAX_PARAMETER ? '' : text
}

function show(context: AppContext, page: Page, status: 200 | 403 | 404 | 405 | 500 | 502 = 200) {
  return context.html(layout({ ...page, user: context.get('user') }), status)
}

/** What the archive or the store says is shown; anything else is a bug, and goes to the log alone. */
function answerError(context: AppContext, error: Error, log: Logger) {
  const isKnown = error instanceof DashkeepError
  const { path } = context.req
  if (isKnown) log.warn({ path, reason: error.message }, 'cannot show a page')
  else if (error.name !== 'AbortError') log.error({ path, error: error.stack }, 'a page failed')
  return show(context, describeFailure(isKnown ? error : undefined), isKnown ? 502 : 500)
}
