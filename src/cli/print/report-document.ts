import type { RetentionPolicy } from '../../archive/retention.ts'
import type { ProofKind } from '../../proofs/proof.ts'
import type { DueRuns, RunSpan } from '../../report/due-runs.ts'
import type { AccountReport, Report } from '../../report/report.ts'
import type { ProofReport } from '../../report/report-proofs.ts'
import { formatBytes, formatTime, plural } from '../../wording.ts'

/** A part of a document, without markup. `formatMarkdown` and `formatHtml` write it. */
export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string }
  | { readonly kind: 'text'; readonly text: string; readonly tone?: 'good' | 'bad' }
  | {
      readonly kind: 'list'
      readonly items: readonly string[]
      /** `short` when the items are so short that several fit side by side. */
      readonly tone?: 'bad' | 'short'
    }
  | {
      readonly kind: 'table'
      readonly header: readonly string[]
      readonly rows: readonly (readonly string[])[]
      /** Indexes of the columns with numbers. */
      readonly right?: readonly number[]
      /** Indexes of the columns whose text must not be broken. It has to be short. */
      readonly unbroken?: readonly number[]
    }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }

/** Entries of one list. JSON has all of them. */
const MAX_LISTED = 50

/** Composes the document of a report, for people. */
export function composeReport(report: Report): Block[] {
  const { since, until, accounts } = report
  const sorted = accounts.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b)))
  return [
    heading(1, `Backup report, ${day(since)} to ${day(until)}`),
    ...composeSummary(report),
    ...(accounts.length > 0 ? [composeOverview(sorted)] : []),
    ...composeTerms(report),
    ...accounts.flatMap((account) => composeAccount(account, report)),
    ...composeLegend(report),
  ]
}

function composeSummary({ accounts, unread, schedule }: Report): Block[] {
  const concerned = accounts.filter((account) => !isWell(account))
  const all = plural(accounts.length, 'account')
  const blocks: Block[] = []
  if (accounts.length === 0) blocks.push(text('The archive has no account to report on.', 'bad'))
  else if (concerned.length === 0) {
    const each = accounts.length === 1 ? 'the account has' : `all ${accounts.length} accounts have`
    blocks.push(text(`All well: ${each} no problem.`, 'good'))
  } else {
    const verb = concerned.length === 1 ? 'needs' : 'need'
    const items = concerned.map((account) => `${titleOf(account)}: ${account.attention.join('; ')}`)
    blocks.push(text(`${concerned.length} of ${all} ${verb} attention:`, 'bad'), list(items, 'bad'))
  }
  if (schedule === undefined) {
    blocks.push(
      text(
        'No schedule is configured, so the report does not know when runs were due, and which were missed.',
      ),
    )
  }
  if (unread.length > 0) {
    blocks.push(text('The report is incomplete:', 'bad'), list(unread, 'bad'))
  }
  return blocks
}

function composeOverview(accounts: readonly AccountReport[]): Block {
  const rows = accounts.map((account) => {
    const { runs, end } = account
    const number = (count: number | undefined) => (count === undefined ? '–' : String(count))
    return [
      titleOf(account),
      number(runs?.due),
      number(runs?.made),
      number(runs?.missed),
      number(runs && runs.suspect + runs.damaged),
      number(runs?.unknown),
      end ? minute(end.takenAt) : 'none',
      isWell(account) ? '✓ well' : '✗ attention',
    ]
  })
  const header = ['Account', 'Due', 'Made', 'Missed', 'Bad', 'Not known', 'Newest good', 'State']
  return { kind: 'table', header, rows, right: [1, 2, 3, 4, 5] }
}

function composeTerms(report: Report): Block[] {
  const { store, since, until, schedule, retention, accounts } = report
  const snapshots = accounts.reduce((sum, { stored }) => sum + stored.snapshots, 0)
  const bytes = accounts.reduce((sum, { stored }) => sum + stored.bytes, 0)
  return [
    facts([
      ['Made', `${minute(until)} UTC by dashkeep ${report.dashkeepVersion}`],
      ['Archive', store],
      ['Holds', `${plural(snapshots, 'snapshot')}, ${formatBytes(bytes)}`],
      ['Span', `${minute(since)} to ${minute(until)} UTC`],
      ['Schedule', schedule ? `${schedule.cron} in ${schedule.timeZone}` : 'not configured'],
      ['Retention', describePolicy(retention)],
    ]),
  ]
}

function composeAccount(account: AccountReport, { since }: Report): Block[] {
  const { attention, first, newest, begin, end, stored, longestGap, runs } = account
  if (stored.snapshots === 0) {
    return [heading(2, titleOf(account)), list(attention, 'bad')]
  }
  const size = (one: typeof begin) =>
    one && `${plural(one.objects, 'object')} in ${formatBytes(one.bytes)}, ${one.snapshot}`
  const kept = account.retention
  return [
    heading(2, titleOf(account)),
    attention.length > 0 ? list(attention, 'bad') : text('All well.', 'good'),
    facts([
      ['Due runs', describeRuns(account)],
      ['Snapshots taken', describeTaken(account)],
      ['Longest gap', longestGap && describeGap(longestGap)],
      ['First snapshot', first && minute(first.takenAt)],
      ['Newest snapshot', newest && minute(newest.takenAt)],
      [begin && begin.takenAt > since ? 'First good' : 'At the start', size(begin)],
      ['At the end', size(end)],
      ['In the archive', `${plural(stored.snapshots, 'snapshot')}, ${formatBytes(stored.bytes)}`],
      ['Retention', kept && `keeps ${kept.kept}, prune would remove ${kept.removable}`],
      ['Pinned', account.pinned > 0 ? plural(account.pinned, 'snapshot') : undefined],
      ['Locked', describeLocks(account)],
      ['Verified', describeProofs(account.proofs, 'verify')],
      ['Drills', describeProofs(account.proofs, 'drill')],
      ...account.copies.map(({ copy, missing, takenAt }): [string, string] => {
        const lag = missing === 0 ? 'complete' : `lacks ${plural(missing, 'snapshot')}`
        return [`Copy ${copy}`, `${lag}, newest ${takenAt ? minute(takenAt) : 'none'}`]
      }),
    ]),
    ...(runs ? composeSpans(runs) : []),
    ...composeFindings(account),
  ]
}

function describeRuns({ runs, isConfigured }: AccountReport): string {
  if (!isConfigured) return 'none: the account is not in the configuration'
  if (runs === undefined) return 'not known: no schedule is configured'
  const { due, made, missed, suspect, damaged, unknown, pending, beforeFirst } = runs
  return [
    `${due} due, ${made} made`,
    missed > 0 && `${missed} missed`,
    suspect > 0 && `${suspect} suspect`,
    damaged > 0 && `${damaged} damaged`,
    unknown > 0 && `${unknown} not known (snapshots were removed)`,
    pending && '1 may still be in progress',
    beforeFirst > 0 && `${beforeFirst} before the first snapshot, not counted`,
  ]
    .filter((part) => part !== false)
    .join(', ')
}

function describeTaken({ taken, runs }: AccountReport): string {
  const { good, suspect, damaged, removed } = taken
  return [
    `${good} good`,
    runs && runs.extra > 0 && `${runs.extra} of them extra`,
    suspect > 0 && `${suspect} suspect`,
    damaged > 0 && `${damaged} damaged`,
    removed > 0 && `at least ${removed} removed since`,
  ]
    .filter((part) => typeof part === 'string')
    .join(', ')
}

function describeGap({ from, to }: { from: Date; to: Date }): string {
  return `${describeLength(to.getTime() - from.getTime())}, ${minute(from)} to ${minute(to)}`
}

/** A length of time, such as `36.5 hours` or `3 days`. */
function describeLength(ms: number): string {
  const hours = ms / 3600_000
  return hours < 48 ? `${roundOff(hours)} hours` : `${roundOff(hours / 24)} days`
}

function roundOff(value: number): number {
  return Math.round(value * 10) / 10
}

function describeLocks({ locks }: AccountReport): string {
  if (locks === undefined) return 'no'
  if (locks.error !== undefined) return `not known: ${locks.error}`
  const end = (until: Date | undefined) => (until ? `until ${minute(until)}` : 'not locked')
  return `newest ${end(locks.newest)}, oldest ${end(locks.oldest)}`
}

function describeProofs(proofs: ProofReport, kind: ProofKind): string {
  const { good, failed, newestGood } = proofs[kind]
  const counts = `${good} good, ${failed} failed`
  if (newestGood === undefined) {
    return good + failed === 0 ? 'no record' : `${counts}; no good one of the whole account`
  }
  const { startedAt, snapshotCount, equal, objects } = newestGood
  const extent = `${plural(snapshotCount, 'snapshot')}, ${equal} of ${plural(objects, 'object')} equal`
  return `${counts}; newest good one ${minute(startedAt)}: ${extent}`
}

function composeSpans({ spans }: DueRuns): Block[] {
  const kinds = [
    ['missed', 'Missed runs'],
    ['suspect', 'Runs with only suspect snapshots'],
    ['damaged', 'Runs with only damaged snapshots'],
    ['unknown', 'Not known, because snapshots were removed'],
  ] as const
  return kinds.flatMap(([state, title]) =>
    spans[state].length === 0
      ? []
      : [heading(3, title), list(spans[state].map(describeRunSpan), 'short')],
  )
}

function describeRunSpan({ from, to, runs }: RunSpan): string {
  return runs === 1 ? minute(from) : `${minute(from)} to ${minute(to)}, ${runs} runs`
}

function composeFindings(account: AccountReport): Block[] {
  const { suspects, damaged, proofs, fromFuture, unfinished } = account
  const blocks: Block[] = []
  if (suspects.length > 0) {
    const rows = suspects.map(({ snapshot, takenAt, reasons, objects, followedBy }) => {
      const end = followedBy?.accepted ? 'accepted as good' : 'good again'
      const after =
        followedBy &&
        `${end} ${minute(followedBy.takenAt)}, ${plural(followedBy.objects, 'object')}`
      return [
        minute(takenAt),
        snapshot,
        reasons.join('; '),
        String(objects),
        after ?? 'still suspect',
      ]
    })
    const header = ['Taken', 'Snapshot', 'Reasons', 'Objects', 'What followed']
    blocks.push(heading(3, 'Suspect snapshots'), {
      kind: 'table',
      header,
      rows,
      right: [3],
      unbroken: [0, 1],
    })
  }
  if (damaged.length > 0) {
    const items = damaged.map(({ problem, snapshots }) => {
      const [only] = snapshots
      return `${snapshots.length === 1 ? only : plural(snapshots.length, 'snapshot')}: ${problem}`
    })
    blocks.push(heading(3, 'Damaged snapshots'), list(items))
  }
  if (proofs.failures.length > 0) {
    const rows = proofs.failures.map(({ kind, startedAt, problems, isOpen }) => {
      return [minute(startedAt), kind, problems.join('; '), isOpen ? 'none' : 'good']
    })
    const header = ['Check', 'Kind', 'Problems', 'Next']
    blocks.push(heading(3, 'Failed checks'), { kind: 'table', header, rows })
  }
  if (proofs.unreadable.length > 0) {
    blocks.push(heading(3, 'Records of checks that cannot be read'), list(proofs.unreadable))
  }
  if (proofs.fromFuture.length > 0) {
    blocks.push(heading(3, 'Records of checks from the future'), list(proofs.fromFuture))
  }
  if (fromFuture.length > 0) {
    blocks.push(heading(3, 'Snapshots from the future'), list(fromFuture, 'short'))
  }
  if (unfinished.length > 0) {
    blocks.push(heading(3, 'Runs that did not finish'), list(unfinished, 'short'))
  }
  return blocks
}

function composeLegend({ schedule }: Report): Block[] {
  const items = [
    'All times are in UTC.',
    ...(schedule === undefined
      ? []
      : [
          'Due: runs that the present schedule asks for since the first snapshot of the account. A snapshot counts for the last due run before it.',
          'Made: the archive has a good snapshot of this run.',
          'Missed: no snapshot was taken. The log of the run says why.',
          'Bad: the archive has only suspect or damaged snapshots of this run.',
          'Not known: retention or somebody removed snapshots of this time, so the archive does not show what was made.',
        ]),
    'Suspect: taken, but objects were missing or damaged compared with the last good snapshot.',
  ]
  return [heading(2, 'How to read this report'), list(items)]
}

function describePolicy(policy: RetentionPolicy | undefined): string {
  if (policy === undefined) return 'no rule is configured'
  const { withinMs, ...counts } = policy
  const rules = Object.entries(counts).flatMap(([rule, number]) =>
    number === undefined ? [] : `${rule} ${number}`,
  )
  if (withinMs !== undefined) rules.push(`within ${describeLength(withinMs)}`)
  return rules.join(', ') || 'no rule is configured'
}

function isWell({ attention }: AccountReport): boolean {
  return attention.length === 0
}

function titleOf({ accountId, configuredAs, name }: AccountReport): string {
  const title = configuredAs ?? name
  if (accountId === undefined) return title ?? 'the configured account'
  return title === undefined ? `Account ${accountId}` : `${title} (${accountId})`
}

function heading(level: 1 | 2 | 3, text: string): Block {
  return { kind: 'heading', level, text }
}

function text(text: string, tone?: 'good' | 'bad'): Block {
  return { kind: 'text', text, ...(tone && { tone }) }
}

function list(items: readonly string[], tone?: 'bad' | 'short'): Block {
  const more = items.length - MAX_LISTED
  const shown =
    more > 0 ? [...items.slice(0, MAX_LISTED), `and ${more} more, see --format json`] : items
  return { kind: 'list', items: shown, ...(tone && { tone }) }
}

/** Leaves out what is undefined. */
function facts(all: readonly (readonly [string, string | undefined])[]): Block {
  const known = all.filter((fact): fact is [string, string] => fact[1] !== undefined)
  return { kind: 'facts', facts: known }
}

function minute(time: Date): string {
  return formatTime(time).slice(0, 16)
}

function day(time: Date): string {
  return formatTime(time).slice(0, 10)
}
