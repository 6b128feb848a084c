import {
  type AccountConfig,
  type Config,
  type Environment,
  soleAccountName,
} from '../config/config.ts'
import type { Logger } from '../log.ts'
import { type CopyStatus, readCopies } from '../run/copy-status.ts'
import { ownersOf } from '../run/owners.ts'
import type { ObjectStore } from '../store/object-store.ts'
import { version } from '../version.ts'
import { type ReportTerms, reportAccount } from './account-report.ts'
import { findAttention } from './attention.ts'
import { listDue } from './due-runs.ts'
import { type ConfiguredAccount, readAccounts } from './read-account.ts'
import type { AccountReport, Report } from './report.ts'
import { reportProofs } from './report-proofs.ts'

interface MakeOptions {
  readonly since: Date
  readonly now: Date
  /** Reports only on this account. Its id is undefined when no snapshot and no setting names it. */
  readonly only?: { readonly name: string; readonly accountId: number | undefined } | undefined
  readonly env: Environment
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Makes the report of an archive: of each account in it, and of each configured account without a
 * snapshot. Reads every manifest. Throws when the archive cannot be read; what else cannot be read is
 * named in the report.
 */
export async function makeReport(
  store: ObjectStore,
  config: Config,
  options: MakeOptions,
): Promise<Report> {
  const { since, now, only, signal } = options
  const terms = await createTerms(config, options)
  const copies = await readCopies(store, config, {
    ...options,
    maxAgeMs: undefined,
    accountId: only?.accountId,
  })
  const accounts: AccountReport[] = []
  const found = new Set<string>()
  const unread = copies.flatMap(({ error }) => error ?? [])
  if (only === undefined || only.accountId !== undefined) {
    const findConfigured = createFinder(config, found)
    const reading = { accountId: only?.accountId, findConfigured, signal }
    for await (const account of readAccounts(store, terms, reading)) {
      accounts.push(judge({ ...account, copies: findCopies(copies, account.accountId) }))
      // Without a configured lock, the server may be one that knows none.
      const error = config.store?.lock && account.locks?.error
      if (error !== undefined) unread.push(error)
    }
  }
  const missing = config.accounts.filter(({ name }) => !found.has(name))
  accounts.push(...reportMissing(missing, terms, only))
  const { schedule, retention } = config
  return {
    since,
    until: now,
    dashkeepVersion: version,
    store: store.url,
    schedule: schedule && { cron: schedule.cron, timeZone: schedule.timeZone },
    retention,
    accounts,
    unread,
  }
}

async function createTerms(
  { schedule, retention, guard }: Config,
  { since, now }: Pick<MakeOptions, 'since' | 'now'>,
): Promise<ReportTerms> {
  const terms = { since, now, retention, guard }
  if (schedule === undefined) return { ...terms, schedule: undefined }
  // Lazy: without a schedule, node-cron is not needed.
  const { createCalendar } = await import('../config/calendar.ts')
  const due = listDue(createCalendar(schedule), { since, now })
  return { ...terms, schedule: { due, graceMs: schedule.jitterMs + schedule.deadlineMs } }
}

/**
 * Finds accounts in the configuration, and collects their names in `found`. A configuration without
 * accounts, such as an auditor's, does not tell which ones are backed up: then all of them count as
 * configured.
 */
function createFinder(
  config: Config,
  found: Set<string>,
): (id: number, recorded: string | undefined) => ConfiguredAccount {
  return (id, recorded) => {
    const owners = ownersOf(config, { id, configuredAs: recorded })
    for (const { name } of owners) found.add(name)
    const configuredAs = shownName(owners[0]?.name ?? recorded)
    return { configuredAs, isConfigured: owners.length > 0 || config.accounts.length === 0 }
  }
}

/** The account that environment variables configure has no name. */
function shownName(name: string | undefined): string | undefined {
  return name === soleAccountName ? undefined : name
}

function findCopies(copies: readonly CopyStatus[], accountId: number): AccountReport['copies'] {
  return copies.flatMap(({ name: copy, accounts }) =>
    accounts
      .filter((account) => account.accountId === accountId)
      .map(({ missing, takenAt }) => ({ copy, missing, takenAt })),
  )
}

/** The reports of configured accounts without a snapshot. */
function reportMissing(
  missing: readonly AccountConfig[],
  terms: ReportTerms,
  only: MakeOptions['only'],
): AccountReport[] {
  const empty = { snapshots: [], fromFuture: [], unfinished: [], pins: new Set<string>() }
  const isWanted = ({ name, accountId }: AccountConfig) =>
    only === undefined ||
    (only.accountId === undefined ? only.name === name : only.accountId === accountId)
  return missing.filter(isWanted).map(({ name, accountId }) =>
    judge({
      ...reportAccount(empty, terms, { isConfigured: true }),
      accountId,
      name: undefined,
      configuredAs: shownName(name),
      isConfigured: true,
      stored: { snapshots: 0, bytes: 0 },
      locks: undefined,
      proofs: reportProofs({ proofs: [], unreadable: [] }, terms),
      copies: [],
    }),
  )
}

function judge(account: Omit<AccountReport, 'attention'>): AccountReport {
  return { ...account, attention: findAttention(account) }
}
