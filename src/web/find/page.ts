import { html } from 'hono/html'
import type { Manifest } from '../../archive/manifest.ts'
import { snapshotTime } from '../../archive/snapshot-name.ts'
import { excerpt } from '../../objects/match-object.ts'
import { plural } from '../../wording.ts'
import { accountPath, address, objectPath, snapshotPath, versionsPath } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import { accountCrumb, type Page } from '../layout.ts'
import type { AccountView, Library } from '../library.ts'
import {
  dataTable,
  type Markup,
  objectLink,
  option,
  outside,
  stateLabel,
  timeOf,
  unreadableNotice,
} from '../markup.ts'
import { MAX_SEARCH } from '../requests.ts'
import type { Ending, Finding, Findings } from './search.ts'

/** Where a text is searched. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'account'; readonly view: AccountView }
  | { readonly kind: 'snapshot'; readonly view: AccountView; readonly manifest: Manifest }

/** Characters of an excerpt, and accounts whose commands are shown. */
const MAX_EXCERPT = 100
const MAX_COMMANDS = 10

/** Objects that contain a text, each with where it fits and when it was there. */
export async function findPage(
  library: Library,
  { scope, found, text }: { scope: Scope; found: Findings | undefined; text: string },
): Promise<Page> {
  const accounts = scope.kind === 'all' ? await listAccounts(library) : []
  return {
    title: text === '' ? 'Find' : `Find ${text}`,
    heading: text === '' ? html`Find` : html`Find ${outside(text)}`,
    crumbs: scope.kind === 'all' ? [] : [accountCrumb(scope.view)],
    body: html`${searchForm(scope, accounts, text)}
${found && results(scope, found, text)}`,
    command: commandOf(scope, accounts, text),
  }
}

interface NamedAccount {
  readonly accountId: number
  readonly name: string
}

async function listAccounts(library: Library): Promise<NamedAccount[]> {
  const { lines } = await library.overview.accounts()
  return lines
    .flatMap(({ accountId, name, status }) =>
      accountId !== undefined && status ? [{ accountId, name }] : [],
    )
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

function searchForm(scope: Scope, accounts: readonly NamedAccount[], text: string): Markup {
  const given = referenceOf(scope)
  const own = scope.kind === 'all' ? accounts : [scope.view]
  return html`<form role="search" method="get" action="/find" class="search">
<label>Text <input type="search" name="q" value="${text}" maxlength="${MAX_SEARCH}" required placeholder="text, or a pattern with * and ?"></label>
<label>In <select name="in">${option('', 'the newest good snapshots of all accounts')}${scope.kind === 'snapshot' && option(given, `snapshot ${scope.manifest.snapshot}`, given)}${own.map(({ accountId, name }) => option(String(accountId), `all snapshots of ${name}`, given))}</select></label>
<button>Find</button>
</form>
<p class="hint">Searches titles, ids, descriptions and nested text. Upper and lower case do not matter.</p>`
}

function referenceOf(scope: Scope): string {
  if (scope.kind === 'all') return ''
  const { accountId } = scope.view
  return scope.kind === 'account' ? String(accountId) : `${accountId}/${scope.manifest.snapshot}`
}

function results(scope: Scope, { objects, problems, ending }: Findings, text: string): Markup {
  const none = html`<p class="notice">${ending === undefined ? 'No object contains the text.' : 'Nothing was found so far.'}</p>`
  return html`${unreadableNotice(problems)}${objects.length === 0 ? none : findingTable(scope, objects, text)}
${ending !== undefined && continuation(scope, ending, text)}`
}

/** Says how far the search went, and continues it. */
function continuation(scope: Scope, ending: Ending, text: string): Markup {
  const href = address('/find', { q: text, in: referenceOf(scope), from: ending.from })
  return html`<p class="notice">${progressOf(scope, ending)} <a rel="next" href="${href}">Continue the search</a></p>`
}

function progressOf({ kind }: Scope, { stored, object }: Ending): Markup {
  const { last, type, manifest } = stored
  const { id } = manifest.account
  const part = object > 0 && html`Searched the first ${plural(object, 'object')} of type ${type}`
  if (kind === 'snapshot') return html`${part}.`
  if (kind === 'all') {
    return part
      ? html`${part} of account ${id}, and all accounts with a lower id.`
      : html`Searched all accounts with an id below ${id}.`
  }
  const time = timeOf(snapshotTime(last) ?? new Date(manifest.takenAt))
  return part
    ? html`${part} in the snapshot of ${time}, and all newer snapshots.`
    : html`Searched all snapshots after ${time}.`
}

function findingTable(scope: Scope, objects: readonly Finding[], text: string): Markup {
  const isAll = scope.kind === 'all'
  const isHistory = scope.kind === 'account'
  const rows = objects.map((one) => [
    objectLink(one, objectPath(one, one.id)),
    ...(isAll
      ? [html`<a href="${accountPath(one.accountId)}">${outside(one.accountName)}</a>`]
      : []),
    matchList(one, text),
    ...(isHistory ? [presence(one)] : []),
  ])
  const columns = [
    { name: 'Object' },
    ...(isAll ? [{ name: 'Account' }] : []),
    { name: 'Where' },
    ...(isHistory ? [{ name: 'When' }] : []),
  ]
  return dataTable(plural(objects.length, 'object'), columns, rows)
}

/** Matches shown of one object. */
const MAX_MATCHES = 2

/** The first places where an object fits, each with the text around. */
export function matchList({ matches }: Pick<Finding, 'matches'>, pattern: string): Markup {
  return html`<ul class="reasons">${matches.slice(0, MAX_MATCHES).map(({ path, text }) => html`<li>${outside(path.join(' › '))}: ${outside(excerpt(text, pattern, MAX_EXCERPT))}</li>`)}</ul>`
}

const looks: Record<Finding['now'], readonly [string, string]> = {
  fits: ['good', 'there'],
  differs: ['changed', 'changed since'],
  gone: ['removed', 'deleted since'],
  unknown: ['stale', 'not known now'],
}

/** The first and the last snapshot that were found to contain the text, and what is there now. */
function presence({ accountId, id, since, snapshot, now }: Finding): Markup {
  const [state, word] = looks[now]
  const link = (name: string) => {
    const time = snapshotTime(name)
    return html`<a href="${snapshotPath({ accountId, snapshot: name })}">${time ? timeOf(time) : name}</a>`
  }
  const span = since === snapshot ? link(snapshot) : html`${link(since)} to ${link(snapshot)}`
  return html`${stateLabel(state, word)}<br>${span}<br><a href="${versionsPath(accountId, id)}">All versions</a>`
}

function commandOf(scope: Scope, accounts: readonly NamedAccount[], text: string): string {
  const words = { given: text === '' ? 'TEXT' : text }
  if (scope.kind === 'all') {
    const of = accounts.map(({ accountId }) => commandLine('find', words, '--account', accountId))
    return of.slice(0, MAX_COMMANDS).join('\n') || commandLine('find', words)
  }
  const where = scope.kind === 'account' ? ['--all'] : ['--snapshot', scope.manifest.snapshot]
  return commandLine('find', words, ...where, '--account', scope.view.accountId)
}
