import { html } from 'hono/html'
import type { CopiedAccount, CopyStatus } from '../../run/copy-status.ts'
import { plural } from '../../wording.ts'
import { accountPath, snapshotPath } from '../addresses.ts'
import { commandLine } from '../command-line.ts'
import type { KnownCopy } from '../copies.ts'
import {
  ageOf,
  dataTable,
  type Markup,
  outside,
  reasonList,
  stateLabel,
  timeOf,
  timeWithAge,
} from '../markup.ts'
import type { AccountLine } from '../overview.ts'

/** Accounts that are listed for one copy. */
const MAX_BEHIND = 20

/** Names the copies that are stale or cannot be read, as `status` reports them; nothing when none is. */
export function copiesNotice(copies: readonly KnownCopy[]): Markup | undefined {
  const bad = copies.filter(({ status: { last, problem } }) => {
    const { accounts = [], error }: Partial<CopyStatus> = last?.value ?? {}
    return (problem ?? error) !== undefined || accounts.some(({ stale }) => stale)
  })
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }, nth) => html`${nth > 0 && ', '}${outside(name)}`)
  return html`<p class="notice suspect">Copies that need attention: ${names}.</p>`
}

/** How far each copy is behind the archive; nothing when no copy is configured. */
export function copiesSection(
  copies: readonly KnownCopy[],
  { lines, now }: { lines: readonly AccountLine[]; now: Date },
): Markup | undefined {
  if (copies.length === 0) return undefined
  const names = new Map(lines.map(({ accountId, name }) => [accountId, name]))
  const rows = copies.map((copy) => [
    copyName(copy),
    copyState(copy),
    missingList(copy.status.last?.value.accounts ?? [], names),
    copy.status.last && timeWithAge(copy.status.last.readAt, now),
  ])
  const columns = ['Copy', 'State', 'Missing snapshots', 'As of'].map((name) => ({
    name,
  }))
  return html`<h2>Copies</h2>
${dataTable('How far each copy is behind the archive', columns, rows)}
<p class="hint">The copies are read every ten minutes at most. <code>${commandLine('status')}</code> reads them at once.</p>`
}

/** How far each copy is behind for one account; nothing when no copy is configured. */
export function accountCopies(
  copies: readonly KnownCopy[],
  accountId: number,
  now: Date,
): Markup | undefined {
  if (copies.length === 0) return undefined
  const rows = copies.map((copy) => {
    const account = copy.status.last?.value.accounts.find((one) => one.accountId === accountId)
    const { snapshot, takenAt } = account ?? {}
    return [
      copyName(copy),
      account ? stateInCopy(account) : copyState(copy),
      account?.missing,
      snapshot &&
        takenAt &&
        html`<a href="${snapshotPath({ accountId, snapshot })}">${timeOf(takenAt)}</a> ${ageOf(takenAt, now)}`,
      copy.status.last && timeWithAge(copy.status.last.readAt, now),
    ]
  })
  const columns = [
    { name: 'Copy' },
    { name: 'State' },
    { name: 'Missing snapshots', number: true },
    { name: 'Newest snapshot in the copy' },
    { name: 'As of' },
  ]
  return html`<h2>Copies</h2>
${dataTable('How far each copy is behind the archive', columns, rows)}`
}

function copyName({ name, url }: KnownCopy): Markup {
  return html`${outside(name)}<span class="id">${outside(url)}</span>`
}

/** The state of the whole copy: the worst of its accounts, or why it is not known. */
function copyState({ status: { last, problem } }: KnownCopy): Markup {
  const { accounts, error }: Partial<CopyStatus> = last?.value ?? {}
  if (problem !== undefined || error !== undefined) {
    const reason = error ?? 'this is a bug in dashkeep'
    return html`${stateLabel('damaged', 'cannot be read')}${reasonList([reason])}`
  }
  if (accounts === undefined) return html`being read … <a href="">Show</a>`
  const behind = accounts.filter(({ missing }) => missing > 0)
  const worst = behind.find(({ stale }) => stale) ?? behind[0]
  return worst ? stateInCopy(worst) : stateLabel('good', 'complete')
}

function stateInCopy({ missing, stale }: CopiedAccount): Markup {
  if (stale) return stateLabel('stale')
  return missing > 0 ? stateLabel('behind') : stateLabel('good', 'complete')
}

function missingList(
  accounts: readonly CopiedAccount[],
  names: ReadonlyMap<number | undefined, string>,
): Markup | string {
  const behind = accounts.filter(({ missing }) => missing > 0)
  if (behind.length === 0) return ''
  const more = behind.length - MAX_BEHIND
  return html`<ul class="reasons">${behind.slice(0, MAX_BEHIND).map(({ accountId, missing }) => html`<li><a href="${accountPath(accountId)}">${outside(names.get(accountId) ?? String(accountId))}</a>: ${missing}</li>`)}${more > 0 && html`<li>${plural(more, 'more account')}</li>`}</ul>`
}
