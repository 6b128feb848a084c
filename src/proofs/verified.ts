// Tested by test/e2e/proofs.test.ts

import type { VerifiedSnapshot } from '../archive/verify.ts'
import { version } from '../version.ts'
import type { NewProof } from './proof.ts'

/** Collects what a verification finds, and makes a record for each account of it. */
interface VerifiedAccounts {
  add(verified: VerifiedSnapshot): void
  /** The records, if the verification has now checked everything. */
  toProofs(endedAt: Date): NewProof[]
}

/** Collects from a verification that began at `startedAt`. */
export function collectVerified(options: {
  readonly startedAt: Date
  readonly scope: 'all' | 'some'
}): VerifiedAccounts {
  const byAccount = new Map<number, VerifiedSnapshot[]>()
  return {
    add(verified) {
      const found = byAccount.get(verified.accountId) ?? []
      byAccount.set(verified.accountId, found)
      // The manifest is large and not needed.
      found.push({ ...verified, manifest: undefined })
    },
    toProofs: (endedAt) =>
      [...byAccount].map(([accountId, verified]) => {
        const sum = (numberOf: (one: VerifiedSnapshot) => number) =>
          verified.reduce((total, one) => total + numberOf(one), 0)
        const problems = verified.flatMap(({ snapshot, defects }) =>
          defects.map(({ problem }) => `${snapshot}: ${problem}`),
        )
        return {
          kind: 'verify',
          accountId,
          ...options,
          endedAt,
          result: problems.length === 0 ? 'good' : 'failed',
          snapshots: verified.map(({ snapshot }) => snapshot).toSorted(),
          files: sum(({ files }) => files),
          bytes: sum(({ bytesRead }) => bytesRead),
          sealed: sum(({ sealed }) => sealed),
          objects: sum(({ objects }) => objects),
          equal: sum(({ equal }) => equal),
          defects: problems.length,
          problems,
          dashkeepVersion: version,
        }
      }),
  }
}
