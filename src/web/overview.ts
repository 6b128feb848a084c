import pMap, { pMapIterable, pMapSkip } from 'p-map'
import type { CoverageFound, KnownBackup } from '../accounts/coverage.ts'
import { type AccountState, findMissing, stateOf } from '../archive/account-state.ts'
import { listAccountIds } from '../archive/archive.ts'
import { type AccountJudgement, judgeAccount } from '../archive/status.ts'
import { DashkeepError } from '../errors.ts'
import { findProofGap, type ProofGap, type ProofJudgement } from '../proofs/judge.ts'
import { judgeAllProofs } from '../proofs/judge-all.ts'
import type { ProofSummary } from '../proofs/proof.ts'
import { type AccountSize, readSize } from './account-size.ts'
import { createCache } from './cache.ts'
import { createKept, type Kept, waitAtMost } from './kept.ts'
import type { LibraryOptions } from './library-options.ts'

/** An account on the first page. */
export interface AccountLine {
  readonly state: AccountState
  readonly accountId: number | undefined
  readonly name: string
  /** Undefined when the archive holds nothing of the account. */
  readonly status: AccountJudgement | undefined
  /** What its proof records prove. */
  readonly proofs?: ProofJudgement | undefined
  /** Why it is not proven; undefined when it is, or when that is not judged. */
  readonly gap?: ProofGap | undefined
}

/** An account that has been read. */
interface FoundAccount {
  readonly status: AccountJudgement
  readonly proofs: ProofJudgement
}

/** The state of all accounts, as far as it is known. */
export interface AccountsRead {
  /** Sorted by urgency. During the first read, only the accounts that it has already read. */
  readonly lines: readonly AccountLine[]
  /** When the read began that the lines come from; undefined during the first read. */
  readonly readAt: Date | undefined
  /** Progress of the current read; undefined when there is none. */
  readonly progress: Progress | undefined
  /** Why the newest read failed. The lines are from an earlier one. */
  readonly problem: Error | undefined
}

interface Progress {
  readonly done: number
  /** Undefined until the accounts are listed. */
  readonly total: number | undefined
}

/** Reads the state of all accounts in the background, and keeps it. */
export interface Overview {
  /**
   * The state of all accounts. Waits half a second at most, or `waitMs`. Throws when no read has ever
   * succeeded.
   */
  accounts(waitMs?: number): Promise<AccountsRead>
  /**
   * Sizes of accounts as far as they are known, by account id. Begins to read the others, and waits
   * for a few, half a second at most.
   */
  sizes(lines: readonly AccountLine[]): Promise<ReadonlyMap<number, AccountSize>>
  /** Whether sub accounts have backups, as the service said; undefined when no `management` is configured. */
  readonly coverage: Kept<CoverageFound> | undefined
  /** Reads the state of all accounts again. Waits half a second at most, the read then continues. */
  refresh(): Promise<void>
}

/** Younger states are shown without another read. */
const FRESH_MS = 60_000
/** Older states are shown only if a read takes too long. */
const OLD_MS = 10 * 60_000
/** Shortest time between two reads that users ask for. */
const REFRESH_MS = 5_000
/** Shortest time between two requests for the sub accounts. */
const COVERAGE_MS = 10 * 60_000
/** Accounts whose state is read at once, and accounts whose size is. */
const STATES_AT_ONCE = 16
const SIZES_AT_ONCE = 4
/** Sizes that are kept. */
const MAX_SIZES = 20_000
/** Most accounts on a page that waits for their sizes. */
const MAX_AWAITED = 20

/** Opens the overview. It reads nothing until it is asked for. */
export function openOverview(
  library: LibraryOptions & { readonly known: Map<string, ProofSummary> },
  { patienceMs }: { patienceMs: number },
): Overview {
  const { store, now, read, known, askCoverage } = library
  const { signal } = read
  let found: FoundAccount[] = []
  let total: number | undefined
  const accounts = createKept(async (readAt) => {
    found = []
    total = undefined
    const ids = await listAccountIds(store, { signal })
    total = ids.length
    const proofs = await judgeAllProofs(store, { now: readAt, known, signal })
    const judge = async (accountId: number) => {
      const status = await judgeAccount(store, accountId, { now: readAt, signal })
      return status ? { status, proofs: proofs.of(accountId) } : pMapSkip
    }
    const judged = pMapIterable(ids, judge, { concurrency: STATES_AT_ONCE })
    for await (const one of judged) found.push(one)
    return found
  }, now)
  const coverage =
    askCoverage && createKept(() => askCoverage(backupsOf(accounts.last?.value ?? [])), now)
  return {
    coverage,
    refresh: () => waitAtMost(patienceMs, accounts.refresh(REFRESH_MS)),
    async accounts(waitMs = patienceMs) {
      const isOld = accounts.last === undefined || isOlder(accounts.last.readAt, now(), OLD_MS)
      const reading = accounts.refresh(FRESH_MS)
      if (isOld || accounts.problem) await waitAtMost(waitMs, reading)
      const { last, problem, isReading } = accounts
      const isBug = problem !== undefined && !(problem instanceof DashkeepError)
      if (problem !== undefined && !isReading && (last === undefined || isBug)) throw problem
      if (last !== undefined) void coverage?.refresh(COVERAGE_MS)
      return {
        lines: linesOf(library, last?.value ?? found, last?.readAt),
        readAt: last?.readAt,
        progress: isReading ? { done: found.length, total } : undefined,
        problem,
      }
    },
    sizes: createSizes(library, patienceMs),
  }
}

function isOlder(time: Date, now: Date, ms: number): boolean {
  return Math.abs(now.getTime() - time.getTime()) > ms
}

function backupsOf(found: readonly FoundAccount[]): KnownBackup[] {
  return found.map(({ status: { accountId, newestGoodAt } }) => {
    return { accountId, newestGood: newestGoodAt }
  })
}

/** Keeps the sizes of accounts until they have another newest snapshot. */
function createSizes(library: LibraryOptions, patienceMs: number): Overview['sizes'] {
  // After a repair, more snapshots can be counted.
  const sizes = createCache<AccountSize>(MAX_SIZES, ({ isComplete }) =>
    isComplete ? 1 : undefined,
  )
  return async (lines) => {
    const known = new Map<number, AccountSize>()
    const read = async ({ status }: AccountLine) => {
      if (status === undefined) return
      const { accountId, newestGood, suspects } = status
      const key = `${accountId} ${newestGood?.snapshot} ${suspects[0]?.snapshot}`
      // The page shows what is wrong with an account; here it only lacks a number.
      const size = await sizes.get(key, () => readSize(library, accountId)).catch(() => undefined)
      if (size !== undefined) known.set(accountId, size)
    }
    const reading = pMap(lines, read, { concurrency: SIZES_AT_ONCE })
    await waitAtMost(lines.length <= MAX_AWAITED ? patienceMs : 0, reading)
    return known
  }
}

/** Judges the accounts at the time of the read. During the first read, no account is `missing`. */
function linesOf(
  { configured, nameOf, maxAgeMs, maxProofAgeMs, now: clock }: LibraryOptions,
  found: readonly FoundAccount[],
  readAt: Date | undefined,
): AccountLine[] {
  const statuses = found.map(({ status }) => status)
  const missing = readAt === undefined ? [] : findMissing(configured, statuses)
  const now = readAt ?? clock()
  const lines = found.map(({ status, proofs }): AccountLine => {
    const { accountId, configuredAs, accountName } = status
    const name = nameOf(accountId, configuredAs) ?? accountName ?? `Account ${accountId}`
    const gap = findProofGap(proofs, { now, maxAgeMs: maxProofAgeMs })
    const state = stateOf(status, { now, maxAgeMs, unproven: gap !== undefined })
    return { state, accountId, name, status, proofs, gap }
  })
  const absent = missing.map(({ accountId, name }): AccountLine => {
    return { state: 'missing', accountId, name, status: undefined }
  })
  return [...absent, ...lines].toSorted(
    (a, b) => rankOf(a) - rankOf(b) || a.name.localeCompare(b.name),
  )
}

/** Accounts with suspect snapshots come first, also when they have another state. */
function rankOf({ state, status }: AccountLine): number {
  return status?.suspects.length ? -1 : urgency.indexOf(state)
}

/** The states of accounts, the one to look at first first. */
const urgency: readonly AccountState[] = [
  'suspect',
  'damaged',
  'stale',
  'missing',
  'from-future',
  'unproven',
  'good',
]
