import { isOpenFailure, judgeProofs } from '../proofs/judge.ts'
import type { ProofKind, ProofSummary } from '../proofs/proof.ts'
import type { AccountProofs } from '../proofs/read.ts'

/** The recorded checks of one kind. */
interface ProofCounts {
  /** Good and failed records since the begin of the span. */
  readonly good: number
  readonly failed: number
  /** The newest good check of the whole account, also before the span. */
  readonly newestGood:
    | Pick<ProofSummary, 'startedAt' | 'snapshotCount' | 'objects' | 'equal' | 'sealed'>
    | undefined
}

/** A check that found a problem. */
interface FailedProof extends Pick<ProofSummary, 'kind' | 'startedAt' | 'defects' | 'problems'> {
  /** Whether no good check of the whole account has followed. */
  readonly isOpen: boolean
}

/** What the recorded checks of an account show. */
export interface ProofReport extends Readonly<Record<ProofKind, ProofCounts>> {
  /** Failed checks since the begin of the span, and older ones that are still open, oldest first. */
  readonly failures: readonly FailedProof[]
  /** Keys of records from the future. They prove nothing, but their failures count. */
  readonly fromFuture: readonly string[]
  /** Why records cannot be read. They prove nothing. */
  readonly unreadable: readonly string[]
}

/** Reports on the recorded checks of an account. Pure. */
export function reportProofs(
  records: Pick<AccountProofs, 'proofs' | 'unreadable'>,
  { since, now }: { since: Date; now: Date },
): ProofReport {
  const judgement = judgeProofs(records, now)
  const future = new Set(judgement.fromFuture)
  const past = records.proofs.filter((proof) => !future.has(proof))
  const recent = past.filter(({ startedAt }) => startedAt >= since)
  const count = (kind: ProofKind): ProofCounts => {
    const own = recent.filter((proof) => proof.kind === kind)
    const good = own.filter(({ result }) => result === 'good').length
    const newest = judgement[kind]
    return { good, failed: own.length - good, newestGood: newest && summarize(newest) }
  }
  const failures = records.proofs
    .filter(({ result }) => result === 'failed')
    .map(({ kind, startedAt, defects, problems }) => {
      const isOpen = isOpenFailure({ kind, startedAt }, judgement)
      return { kind, startedAt, defects, problems, isOpen }
    })
    .filter(({ startedAt, isOpen }) => startedAt >= since || isOpen)
  const unreadable = judgement.unreadable.map(({ message }) => message)
  const fromFuture = judgement.fromFuture.map(({ key }) => key)
  return { verify: count('verify'), drill: count('drill'), failures, fromFuture, unreadable }
}

function summarize(proof: ProofSummary): ProofCounts['newestGood'] {
  const { startedAt, snapshotCount, objects, equal, sealed } = proof
  return { startedAt, snapshotCount, objects, equal, sealed }
}
