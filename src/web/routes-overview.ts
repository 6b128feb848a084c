import { readAccountId } from '../account-id.ts'
import type { Library } from './library.ts'
import { accountsPage } from './pages/accounts.ts'
import { type App, parameter, show } from './requests.ts'

/** Seconds after which a browser asks again while the archive is read for the first time. */
const RETRY_S = 3

/** Adds the first page, and the addresses that read the archive again. */
export function addOverview(app: App, library: Library): void {
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

  app.get('/accounts/:account/refresh', (context) => {
    const accountId = readAccountId(context.req.param('account'))
    if (accountId === undefined) return context.notFound()
    library.forget(accountId)
    return context.redirect(`/accounts/${accountId}`, 303)
  })
}
