// Tested by test/e2e/proof-age.test.ts

import type { ObjectStore } from '../store/object-store.ts'
import { judgeProofs, type ProofJudgement } from './judge.ts'
import { readNewestProofs } from './read.ts'

/** Judgements by account id. */
export interface AllProofs {
  /** The judgement of an account, also of one without records. */
  of(accountId: number): ProofJudgement
}

/**
 * Judges the records of all accounts, or of some of them, at the time `now`. Reads what
 * `readNewestProofs` reads. Throws when the store cannot answer.
 */
export async function judgeAllProofs(
  store: ObjectStore,
  options: Parameters<typeof readNewestProofs>[1],
): Promise<AllProofs> {
  const { now } = options
  const none = judgeProofs({ proofs: [], unreadable: [] }, now)
  const byAccount = new Map<number, ProofJudgement>()
  for await (const read of readNewestProofs(store, options))
    byAccount.set(read.accountId, judgeProofs(read, now))
  return { of: (accountId) => byAccount.get(accountId) ?? none }
}
