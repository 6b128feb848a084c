import { html } from 'hono/html'
import { type CoverageFound, coverageReasons } from '../../accounts/coverage.ts'
import { countObjects } from '../../archive/manifest.ts'
import { DashkeepError } from '../../errors.ts'
import { createTextMatcher } from '../../objects/match-object.ts'
import { formatBytes, plural } from '../../wording.ts'
import type { AccountSize } from '../account-size.ts'
import { accountPath, address } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import type { Kept } from '../kept.ts'
import type { Page } from '../layout.ts'
import type { Library } from '../library.ts'
import { dataTable, type Markup, outside, timeWithAge } from '../markup.ts'
import type { AccountLine, AccountsRead } from '../overview.ts'
import { pageLinks, pageOf } from '../paging.ts'
import { MAX_SEARCH } from '../requests.ts'
import { sparkline } from '../sparkline.ts'
import { stateOfAccount } from './account-state.ts'
import { copiesNotice, copiesSection } from './copies.ts'
import { hasRecords, proofCell } from './proofs.ts'

/** Accounts in one table. */
const PAGE_SIZE = 100

/** The first page: whether all accounts are safe, those that are not first. */
export async function accountsPage(
  library: Library,
  { q, page }: { q: string; page: string },
): Promise<Page & { readonly isPartial: boolean }> {
  const { overview } = library
  const read = await overview.accounts()
  const matches = createTextMatcher(q, { whole: false })
  const found = read.lines.filter(
    ({ name, accountId }) => q === '' || matches(name) || matches(String(accountId ?? '')),
  )
  const shown = pageOf(found, page, PAGE_SIZE)
  // Sizes take long to read: the states come first.
  const sizes = read.readAt ? await overview.sizes(shown.items) : new Map()
  const copies = read.readAt ? library.copies() : []
  const now = library.now()
  return {
    title: 'Accounts',
    body: html`${readNotice(read, now)}
${read.readAt && summary(read.lines, library.store.url)}
${copiesNotice(copies)}
${read.lines.length > PAGE_SIZE && searchForm(q)}
${
  shown.items.length > 0
    ? accountsTable(shown.items, { sizes, now, total: found.length })
    : q !== '' && html`<p class="notice">No account matches the search.</p>`
}
${pageLinks(shown, (number) => address('/', { q, page: number }))}
${copiesSection(copies, { lines: read.lines, now })}
${overview.coverage && coverageSection(overview.coverage, now)}`,
    command: commandLine('status'),
    isPartial: read.readAt === undefined,
  }
}

/** How old the page is, and what is being read. */
function readNotice({ lines, readAt, progress, problem }: AccountsRead, now: Date): Markup {
  const total = progress?.total
  const reading =
    progress &&
    (total === undefined
      ? html`Listing the accounts …`
      : html`Read ${progress.done} of ${plural(total, 'account')} <progress aria-label="accounts read" value="${progress.done}" max="${total}">${progress.done} of ${total}</progress>`)
  if (readAt === undefined) {
    const partly = lines.length > 0 && 'The table has the accounts that have been read so far. '
    return html`<p class="notice" role="status">The archive is being read for the first time. ${reading}
${partly}<a href="/">Show what has been read since</a></p>`
  }
  return html`${
    problem &&
    html`<p class="notice damaged">The archive cannot be read again: ${outside(problem.message, 2000)}</p>`
  }<p class="age">State of ${timeWithAge(readAt, now)}${reading ? html`. Reading again: ${reading} <a href="/">Show</a>` : html` · <a href="/refresh" rel="nofollow">Read again</a>`}</p>`
}

function summary(lines: readonly AccountLine[], url: string): Markup {
  if (lines.length === 0) {
    return html`<p class="notice suspect">The store <code>${outside(url)}</code> holds no snapshot. Check its address, or take the first snapshot with <code>dashkeep backup</code>.</p>`
  }
  const bad = lines.filter(({ state }) => state !== 'good').length
  const sentence =
    bad === 0
      ? `${lines.length === 1 ? 'The account has' : `All ${lines.length} accounts have`} a good backup.`
      : `${bad} of ${plural(lines.length, 'account')} ${bad === 1 ? 'needs' : 'need'} attention.`
  return html`<p class="notice ${bad === 0 ? 'good' : 'suspect'}">${sentence}</p>`
}

function searchForm(q: string): Markup {
  return html`<form role="search" method="get" action="/" class="search">
<label>Name or id <input type="search" name="q" value="${q}" maxlength="${MAX_SEARCH}" placeholder="text, or a pattern with * and ?"></label>
<button>Search</button>
</form>`
}

function accountsTable(
  lines: readonly AccountLine[],
  { sizes, now, total }: { sizes: ReadonlyMap<number, AccountSize>; now: Date; total: number },
): Markup {
  // Without any record, nobody needs to read in each row that there is none.
  const withProofs = lines.some(({ proofs, gap }) => hasRecords(proofs) || gap !== undefined)
  const rows = lines.map((line) => {
    const { accountId, status, proofs } = line
    const good = status?.newestGood
    // Undefined until it is read; an account without a snapshot has none.
    const size =
      status === undefined ? { snapshots: 0, bytes: 0, counts: [] } : sizes.get(status.accountId)
    return [
      html`${nameOf(line)}${accountId !== undefined && html` <span class="id">${accountId}</span>`}`,
      stateOfAccount(line, now),
      status?.newestGoodAt ? timeWithAge(status.newestGoodAt, now) : 'none',
      ...(withProofs ? [proofCell(proofs, now)] : []),
      good && countObjects(good),
      size?.snapshots ?? '…',
      size === undefined ? '…' : formatBytes(size.bytes),
      size && sparkline(size.counts),
    ]
  })
  const columns = [
    { name: 'Account' },
    { name: 'State' },
    { name: 'Newest good snapshot' },
    ...(withProofs ? [{ name: 'Last proven' }] : []),
    { name: 'Objects', number: true },
    { name: 'Snapshots', number: true },
    { name: 'Stored', number: true },
    { name: 'Object count' },
  ]
  const missing = lines.some(({ status }) => status && !sizes.has(status.accountId))
  return html`${dataTable(`${plural(total, 'account')}, those that need attention first`, columns, rows)}
${missing && html`<p class="hint">… is being counted. <a href="/">Show</a></p>`}`
}

function nameOf({ accountId, name, status }: AccountLine): Markup {
  if (accountId === undefined || status === undefined) return outside(name)
  return html`<a href="${accountPath(accountId)}">${outside(name)}</a>`
}

/** Sub accounts that no snapshot protects, as the service lists them. */
function coverageSection({ last, problem, isReading }: Kept<CoverageFound>, now: Date): Markup {
  const found = last?.value
  const bare = found?.accounts.filter(({ state }) => state !== 'covered' && state !== 'stale') ?? []
  const rows = bare.map(({ accountId, accountName, state, newestGood }) => [
    html`${outside(accountName)} <span class="id">${accountId}</span>`,
    coverageReasons[state],
    newestGood ? timeWithAge(newestGood, now) : 'none',
  ])
  const columns = [{ name: 'Sub account' }, { name: 'Reason' }, { name: 'Newest good snapshot' }]
  return html`<h2>Sub accounts without a backup</h2>
${problem && html`<p class="notice damaged">The service cannot be asked: ${outside(problem instanceof DashkeepError ? problem.message : 'this is a bug in dashkeep', 2000)}</p>`}
${found === undefined && isReading && html`<p class="notice" role="status">The service is being asked. <a href="/">Show its answer</a></p>`}
${
  found &&
  (rows.length > 0
    ? dataTable(`${rows.length} of ${plural(found.accounts.length, 'sub account')}`, columns, rows)
    : html`<p class="notice good">None of ${plural(found.accounts.length, 'sub account')}.</p>`)
}
${found?.unidentified.map((name) => html`<p class="hint">The service did not say which account the token of ${outside(name)} belongs to.</p>`)}
${last && html`<p class="age">The service was asked at ${timeWithAge(last.readAt, now)}. The same on the command line: <code>${commandLine('accounts', 'coverage')}</code></p>`}`
}
