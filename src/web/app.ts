import { Hono } from 'hono'
import { DashkeepError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { addComparePages } from './compare/routes.ts'
import { compareStyle } from './compare/style.ts'
import { dashboardStyle } from './dashboard/style.ts'
import { addFindPage } from './find/routes.ts'
import type { Library } from './library.ts'
import {
  describeFailure,
  notAllowed,
  notFound,
  searchTooLong,
  signInPage,
} from './pages/refusals.ts'
import { addPages } from './pages/routes.ts'
import { type App, type AppContext, MAX_SEARCH, show } from './requests.ts'
import { isPostPath } from './restore/posts.ts'
import { controlsFor, type Restores } from './restore/restores.ts'
import { addRestoreRoutes } from './restore/routes.ts'
import { restoreStyle } from './restore/style.ts'
import { script } from './script.ts'
import { type Access, type Gate, isOwnHost, secureHeaders } from './security.ts'
import { style } from './style.ts'

/** Creates the handlers of all pages. Nothing is answered before host, method and user are checked. */
export function createApp(
  library: Library,
  {
    access,
    gate,
    log,
    restores,
  }: { access: Access; gate: Gate; log: Logger; restores?: Restores | undefined },
): App {
  const app: App = new Hono()
  app.use(secureHeaders)
  app.onError((error, context) => answerError(context as AppContext, error, log))
  app.notFound((context) => show(context as AppContext, notFound(), 404))
  guard(app, { access, gate, restores })
  addPages(app, library)
  addComparePages(app, library)
  addFindPage(app, library)
  if (restores !== undefined) addRestoreRoutes(app, { library, restores, access, gate, log })
  return app
}

function guard(
  app: App,
  { access, gate, restores }: { access: Access; gate: Gate; restores: Restores | undefined },
): void {
  // For probes, which name the address of a Pod as host. It says nothing of the archive.
  app.get('/healthz', (context) => context.text('ok\n'))
  app.use(async (context, next) => {
    context.set('isRestoreAllowed', restores !== undefined)
    const { method, path } = context.req
    if (!isOwnHost(access, context.req.header('host'))) {
      return context.text('This server does not answer for this host name.\n', 421)
    }
    const methods = restores !== undefined && isPostPath(path) ? ['POST'] : ['GET', 'HEAD']
    if (!methods.includes(method)) {
      context.header('Allow', methods.join(', '))
      return show(context, notAllowed(restores !== undefined), 405)
    }
    return next()
  })
  app.get('/style.css', (context) =>
    context.body(style + dashboardStyle + compareStyle + restoreStyle, 200, {
      'Content-Type': 'text/css; charset=utf-8',
    }),
  )
  app.get('/script.js', (context) =>
    context.body(script, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }),
  )
  app.get('/open', (context) => {
    // Previews of addresses ask with HEAD; they must not use the token up.
    const isAsked = context.req.method === 'GET'
    if (isAsked && gate.exchange(context, context.req.query('token') ?? ''))
      return context.redirect('/', 303)
    return show(context, signInPage('/', access), 403)
  })
  app.use(async (context, next) => {
    const reader = gate.readerOf(context)
    if ('refusal' in reader) {
      const { pathname, search } = new URL(context.req.url)
      // Two slashes at the start would name another server.
      const own = `${pathname}${search}`.replace(/^[/\\]+/, '/')
      return show(context, signInPage(own, access, reader.refusal), 403)
    }
    const { user } = reader
    context.set('user', user)
    if (access.kind === 'proxy') context.set('userName', user)
    if (restores) context.set('restore', controlsFor(restores, user, gate))
    return next()
  })
  app.use(async (context, next) => {
    const { length } = context.req.query('q') ?? ''
    return length > MAX_SEARCH ? show(context, searchTooLong(length), 400) : next()
  })
}

/** What the archive or the store says is shown; anything else is a bug, and goes to the log alone. */
function answerError(context: AppContext, error: Error, log: Logger) {
  const isKnown = error instanceof DashkeepError
  const { path } = context.req
  if (isKnown) log.warn({ path, reason: error.message }, 'cannot show a page')
  else if (error.name !== 'AbortError') log.error({ path, error: error.stack }, 'a page failed')
  return show(context, describeFailure(isKnown ? error : undefined), isKnown ? 502 : 500)
}
