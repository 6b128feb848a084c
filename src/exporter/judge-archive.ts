import { type AccountState, stateOf } from '../archive/account-state.ts'
import { type AccountStatus, readStatus } from '../archive/status.ts'
import type { Config, Environment } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { openArchive } from '../open.ts'
import { findProofGap, type ProofJudgement } from '../proofs/judge.ts'
import { type CopyStatus, readCopies } from '../run/copy-status.ts'
import { type ArchivedAccount, archivedAccountOf } from '../run/metrics/archive-gauges.ts'
import type { ReadProofs } from './remember-proofs.ts'

/** State of a configured account in the archive. */
export interface JudgedAccount extends ArchivedAccount {
  readonly state: AccountState
  /** What the proof records of the account prove; undefined without snapshots. */
  readonly proofs?: ProofJudgement | undefined
}

/** What an account is judged by. */
interface JudgeOptions {
  readonly now: Date
  /** Accounts whose newest good snapshot is older are stale; none when undefined. */
  readonly maxAgeMs: number | undefined
  /** Accounts whose newest proof is older are unproven; none when undefined. */
  readonly maxProofAgeMs: number | undefined
  readonly env: Environment
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Judges every configured account by the archive. Returns the results by configured name. Only reads:
 * one listing and the manifests back to the newest good one, and what `readProofs` reads. Ignores
 * accounts that are not configured. Throws when the store cannot answer.
 */
export async function judgeArchive(
  config: Config,
  options: JudgeOptions & { readonly readProofs: ReadProofs },
): Promise<Map<string, JudgedAccount>> {
  const missing = { state: 'missing', newestGoodAt: undefined, objects: undefined, suspect: false }
  const judged = new Map(config.accounts.map(({ name }) => [name, missing as JudgedAccount]))
  const nameOf = findNames(config)
  await using store = await openArchive(config, options)
  const only = findIds(config)
  const proofs = await options.readProofs(store, { ...options, only })
  for await (const status of readStatus(store, { ...options, only })) {
    const name = nameOf(status)
    if (name === undefined) continue
    const found = judgeAccount(status, proofs.of(status.accountId), options)
    const before = judged.get(name)?.newestGoodAt
    // Snapshots of two accounts can have the same configured name: the newer ones count.
    if (before === undefined || (found.newestGoodAt ?? 0) >= before) judged.set(name, found)
  }
  return judged
}

function judgeAccount(
  status: AccountStatus,
  proofs: ProofJudgement,
  { now, maxAgeMs, maxProofAgeMs }: JudgeOptions,
): JudgedAccount {
  const gap = findProofGap(proofs, { now, maxAgeMs: maxProofAgeMs })
  return {
    state: stateOf(status, { now, maxAgeMs, unproven: gap !== undefined }),
    proofs,
    ...archivedAccountOf(status),
  }
}

/** Reads how far each configured copy is behind the archive, from a listing of both. */
export async function judgeCopies(config: Config, options: JudgeOptions): Promise<CopyStatus[]> {
  if (config.copies.length === 0) return []
  await using store = await openArchive(config, options)
  return await readCopies(store, config, options)
}

/** The ids of all accounts; undefined when an account has no configured id. */
function findIds({ accounts }: Config): ReadonlySet<number> | undefined {
  const ids = accounts.flatMap(({ accountId }) => accountId ?? [])
  return ids.length === accounts.length ? new Set(ids) : undefined
}

/** Finds an account without a configured id by the configured name in its newest manifest. */
function findNames({ accounts }: Config): (status: AccountStatus) => string | undefined {
  const byId = new Map(accounts.map(({ accountId, name }) => [accountId, name]))
  const withoutId = accounts.filter(({ accountId }) => accountId === undefined)
  const names = new Set(withoutId.map(({ name }) => name))
  return ({ accountId, configuredAs = '' }) =>
    byId.get(accountId) ?? (names.has(configuredAs) ? configuredAs : undefined)
}
