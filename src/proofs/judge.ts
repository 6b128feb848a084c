import { isFromFuture } from '../archive/future.ts'
import { type ProofError, type ProofKind, type ProofSummary, proofKinds } from './proof.ts'
import { type AccountProofs, isWhole } from './read.ts'

/** What the records of an account prove at a moment. */
export interface ProofJudgement {
  /** The newest good `verify` of every snapshot; undefined when there is none. */
  readonly verify: ProofSummary | undefined
  /** The newest good drill; undefined when there is none. */
  readonly drill: ProofSummary | undefined
  /**
   * Of each kind, the newest failed check, unless a later good one of the whole account followed. It
   * may be from the future: a wrong clock does not make damage good.
   */
  readonly failed: readonly ProofSummary[]
  /** Records from the future. They prove nothing. */
  readonly fromFuture: readonly ProofSummary[]
  /** Records that cannot be read. They prove nothing. */
  readonly unreadable: readonly ProofError[]
}

/**
 * Judges the records of an account at the time `now`. A `verify` of some snapshots proves nothing about
 * the account, but its failure counts. Pure.
 */
export function judgeProofs(
  { proofs, unreadable }: Pick<AccountProofs<ProofSummary>, 'proofs' | 'unreadable'>,
  now: Date,
): ProofJudgement {
  const isFuture = ({ startedAt }: ProofSummary) => isFromFuture({ takenAt: startedAt }, now)
  const past = proofs.filter((proof) => !isFuture(proof))
  const newestGood = (kind: ProofKind) =>
    past.findLast((proof) => proof.kind === kind && isWhole(proof))
  const good = { verify: newestGood('verify'), drill: newestGood('drill') }
  const failed = proofKinds.flatMap((kind) => {
    const last = proofs.findLast((proof) => proof.kind === kind && proof.result === 'failed')
    return last !== undefined && isOpenFailure(last, good) ? last : []
  })
  return { ...good, failed, fromFuture: proofs.filter(isFuture), unreadable }
}

/** Whether no good check of its kind and of the whole account has followed a failed one. Pure. */
export function isOpenFailure(
  { kind, startedAt }: Pick<ProofSummary, 'kind' | 'startedAt'>,
  newestGood: Pick<ProofJudgement, ProofKind>,
): boolean {
  const good = newestGood[kind]
  return good === undefined || good.startedAt <= startedAt
}

/** When the account was last proven, by `verify` or a drill; undefined when it never was. */
export function provenAt({ verify, drill }: ProofJudgement): Date | undefined {
  const times = [verify, drill].flatMap((proof) => proof?.startedAt ?? [])
  return times.toSorted((a, b) => b.getTime() - a.getTime())[0]
}

/**
 * Why an account counts as not proven: no record, an old one, a failed check, or a record that cannot
 * be read and may be of a failed check.
 */
export type ProofGap = 'failed' | 'never' | 'old' | 'unreadable'

/**
 * Says why an account is not proven; undefined when its newest good record is at most `maxAgeMs` old
 * and no check has failed since, and when `maxAgeMs` is undefined: then nothing is judged. Expects the
 * judgement of `readNewestProofs`, whose unreadable records are newer than the good ones. Pure.
 */
export function findProofGap(
  judgement: ProofJudgement,
  { now, maxAgeMs }: { now: Date; maxAgeMs: number | undefined },
): ProofGap | undefined {
  if (maxAgeMs === undefined) return undefined
  if (judgement.failed.length > 0) return 'failed'
  const at = provenAt(judgement)
  if (at === undefined) return 'never'
  if (now.getTime() - at.getTime() > maxAgeMs) return 'old'
  return judgement.unreadable.length > 0 ? 'unreadable' : undefined
}
