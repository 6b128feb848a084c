import { html } from 'hono/html'
import { countObjects } from '../../archive/manifest.ts'
import { formatBytes, plural } from '../../wording.ts'
import type { Page } from '../layout.ts'
import type { AccountLine, Library } from '../library.ts'
import { commandLine, dataTable, type Markup, outside, stateLabel, timeWithAge } from '../markup.ts'
import { sparkline } from '../sparkline.ts'

/** Reasons shown for one account. */
const MAX_REASONS = 5

/** The first page: whether all accounts are safe, those that are not first. */
export async function accountsPage(library: Library, signal: AbortSignal): Promise<Page> {
  const lines = await library.accounts(signal)
  const now = library.now()
  return {
    title: 'Accounts',
    body: html`${summary(lines)}${lines.length > 0 && accountsTable(lines, now)}`,
    command: commandLine('status'),
  }
}

function summary(lines: readonly AccountLine[]): Markup {
  if (lines.length === 0) {
    return html`<p class="notice">The archive holds no snapshot. Take the first one with <code>dashkeep backup</code>.</p>`
  }
  const bad = lines.filter(({ state }) => state !== 'good').length
  const sentence =
    bad === 0
      ? `${lines.length === 1 ? 'The account has' : `All ${lines.length} accounts have`} a good backup.`
      : `${bad} of ${plural(lines.length, 'account')} ${bad === 1 ? 'needs' : 'need'} attention.`
  return html`<p class="notice ${bad === 0 ? 'good' : 'suspect'}">${sentence}</p>`
}

function accountsTable(lines: readonly AccountLine[], now: Date): Markup {
  const hasTrend = lines.some(({ counts }) => counts.length > 1)
  const rows = lines.map((line) => {
    const { accountId, status, counts } = line
    const good = status?.newestGood
    return [
      html`${nameOf(line)}${accountId !== undefined && html` <span class="id">${accountId}</span>`}`,
      html`${statesOf(line)}${reasonsOf(line)}`,
      status?.newestGoodAt ? timeWithAge(status.newestGoodAt, now) : 'none',
      good && countObjects(good),
      status?.snapshots ?? 0,
      formatBytes(status?.bytes ?? 0),
      ...(hasTrend ? [sparkline(counts)] : []),
    ]
  })
  const columns = [
    { name: 'Account' },
    { name: 'State' },
    { name: 'Newest good snapshot' },
    { name: 'Objects', number: true },
    { name: 'Snapshots', number: true },
    { name: 'Stored', number: true },
    ...(hasTrend ? [{ name: 'Objects over the last snapshots' }] : []),
  ]
  return dataTable('Accounts, those that need attention first', columns, rows)
}

/** An account can be stale and suspect at once. */
function statesOf({ state, status }: AccountLine): Markup {
  const isSuspect = state !== 'suspect' && status !== undefined && status.suspects.length > 0
  return html`${isSuspect && html`${stateLabel('suspect')} `}${stateLabel(state)}`
}

function nameOf({ accountId, name, status }: AccountLine): Markup {
  if (accountId === undefined || status === undefined) return outside(name)
  return html`<a href="/accounts/${accountId}">${outside(name)}</a>`
}

function reasonsOf({ state, status }: AccountLine): Markup | undefined {
  if (status === undefined)
    return html`<ul class="reasons"><li>no snapshot in the archive</li></ul>`
  const reasons = [
    ...status.suspects.flatMap((one) => one.reasons),
    ...status.problems,
    ...status.fromFuture.map((snapshot) => `snapshot ${snapshot} is from the future`),
    ...(state === 'stale' ? ['the newest good snapshot is too old'] : []),
  ]
  if (reasons.length === 0) return undefined
  const more = reasons.length - MAX_REASONS
  return html`<ul class="reasons">
${reasons.slice(0, MAX_REASONS).map((reason) => html`<li>${outside(reason)}</li>`)}
${more > 0 && html`<li>${plural(more, 'more reason')}</li>`}</ul>`
}
