import { readAccountId } from '../../account-id.ts'
import { nameFiles } from '../../objects/file-names.ts'
import { accountPath } from '../addresses.ts'
import type { Library } from '../library.ts'
import {
  type App,
  findAccount,
  findObject,
  findSnapshot,
  parameter,
  show,
  signalOf,
} from '../requests.ts'
import { accountPage } from './account.ts'
import { accountsPage } from './accounts.ts'
import { historyPage } from './history.ts'
import { objectPage } from './object.ts'
import { snapshotPage } from './snapshot.ts'

/** Seconds after which a browser asks again while the archive is read for the first time. */
const RETRY_S = 3

/** Adds the pages of accounts, snapshots and objects. */
export function addPages(app: App, library: Library): void {
  addAccounts(app, library)
  app.get('/accounts/:account/snapshots/:snapshot', async (context) => {
    const signal = signalOf(library, context)
    const found = await findSnapshot(library, context, signal)
    if (found === undefined) return context.notFound()
    const query = {
      q: parameter(context, 'q'),
      type: parameter(context, 'type'),
      sort: parameter(context, 'sort'),
      page: parameter(context, 'page'),
      changed: parameter(context, 'changed') === '1',
    }
    const restore = context.get('restore')
    return show(context, await snapshotPage(library, found, { query, signal, restore }))
  })
  addObjects(app, library)
}

/** The first page, the pages of accounts, and the addresses that read the archive again. */
function addAccounts(app: App, library: Library): void {
  app.get('/', async (context) => {
    const [q, page] = [parameter(context, 'q'), parameter(context, 'page')]
    const { isPartial, ...shown } = await accountsPage(library, { q, page })
    if (isPartial) context.header('Refresh', String(RETRY_S))
    return show(context, shown)
  })
  app.get('/refresh', async (context) => {
    await library.overview.refresh()
    return context.redirect('/', 303)
  })
  app.get('/accounts/:account', async (context) => {
    const signal = signalOf(library, context)
    const view = await findAccount(library, context, signal)
    if (view === undefined) return context.notFound()
    const { year, page } = context.req.query()
    const shown = await accountPage(library, view, { year, page, signal })
    library.readAhead(view)
    return show(context, shown)
  })
  app.get('/accounts/:account/refresh', (context) => {
    const accountId = readAccountId(context.req.param('account'))
    if (accountId === undefined) return context.notFound()
    library.forget(accountId)
    return context.redirect(accountPath(accountId), 303)
  })
}

/** An object of a snapshot, its bytes, and all its versions. */
function addObjects(app: App, library: Library): void {
  app.get('/accounts/:account/history', async (context) => {
    const signal = signalOf(library, context)
    const view = await findAccount(library, context, signal)
    const id = parameter(context, 'id')
    const page = view && id !== '' ? await historyPage(library, view, { id, signal }) : undefined
    if (page === undefined) return context.notFound()
    return show(context, page, page.isFound ? 200 : 404)
  })
  const path = '/accounts/:account/snapshots/:snapshot/object'
  app.get(path, async (context) => {
    const signal = signalOf(library, context)
    const found = await findObject(library, context, signal)
    if (found === undefined) return context.notFound()
    const restore = context.get('restore')
    return show(context, await objectPage(library, { ...found, signal, restore }))
  })
  app.get(`${path}/:form{raw|download}`, async (context) => {
    const found = await findObject(library, context, signalOf(library, context))
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
