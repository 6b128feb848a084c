import { readAccountId } from '../../account-id.ts'
import { readManifest } from '../../archive/archive.ts'
import type { Library } from '../library.ts'
import { type App, parameter, show, signalOf } from '../requests.ts'
import { findPage, type Scope } from './page.ts'
import { searchAccount, searchAll, searchSnapshot } from './search.ts'

/** Adds the page that finds objects by a text in them. */
export function addFindPage(app: App, library: Library): void {
  app.get('/find', async (context) => {
    const signal = signalOf(library, context)
    const scope = await readScope(library, parameter(context, 'in'), signal)
    if (scope === undefined) return context.notFound()
    const text = parameter(context, 'q')
    const search = { text, from: parameter(context, 'from'), signal }
    const found = text === '' ? undefined : await searchScope(library, scope, search)
    return show(context, await findPage(library, { scope, found, text }))
  })
}

/** Where to search: an account, or a snapshot as `<account>/<snapshot>`; empty for all accounts. */
async function readScope(
  library: Library,
  place: string,
  signal: AbortSignal,
): Promise<Scope | undefined> {
  if (place === '') return { kind: 'all' }
  const [account = '', name, ...more] = place.split('/')
  const accountId = readAccountId(account)
  if (accountId === undefined || more.length > 0) return undefined
  const view = await library.account(accountId, signal, name)
  if (view === undefined) return undefined
  if (name === undefined) return { kind: 'account', view }
  const folder = view.folders.find(({ snapshot }) => snapshot === name)
  if (folder === undefined) return undefined
  const { manifest } = await readManifest(library.store, accountId, name, { signal })
  return { kind: 'snapshot', view, manifest }
}

function searchScope(
  library: Library,
  scope: Scope,
  search: { text: string; from: string; signal: AbortSignal },
) {
  switch (scope.kind) {
    case 'all':
      return searchAll(library, search)
    case 'account':
      return searchAccount(library, scope.view, search)
    case 'snapshot':
      return searchSnapshot(library, scope, search)
  }
}
