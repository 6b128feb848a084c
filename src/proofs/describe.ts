// Tested by test/e2e/proof-age.test.ts

import { formatAge, formatTime, plural } from '../wording.ts'
import { type ProofGap, type ProofJudgement, provenAt } from './judge.ts'
import type { ProofSummary } from './proof.ts'

/** Says why an account is not proven, such as `the newest proof is 9 days old`. */
export function describeGap(judgement: ProofJudgement, gap: ProofGap, now: Date): string {
  const at = provenAt(judgement)
  const [unreadable] = judgement.unreadable
  if (gap === 'failed') return judgement.failed.map(describeFailure).join('; ')
  if (gap === 'never' || at === undefined) return 'no good verify or drill is recorded'
  if (gap === 'unreadable' && unreadable) {
    const number = plural(judgement.unreadable.length, 'record')
    return `${number} cannot be read and may report a failed check: ${unreadable.message}`
  }
  return `the newest proof is of ${formatTime(at)} (${formatAge(at, now)})`
}

function describeFailure({ kind, startedAt, defects, problems }: ProofSummary): string {
  const [first = 'no reason is recorded'] = problems
  const more = defects > 1 ? `, and ${plural(defects - 1, 'more problem')}` : ''
  return `the ${kind} of ${formatTime(startedAt)} failed: ${first}${more}`
}

/** Says which records do not count, and why. */
export function describeIgnored({ unreadable, fromFuture }: ProofJudgement): string[] {
  return [
    ...unreadable.map(({ message }) => message),
    ...fromFuture.map(({ key }) => describeFuture(key)),
  ]
}

/** Says that a record is from the future, and what to do. */
export function describeFuture(key: string): string {
  return `${key} is from the future; if the clock of the reader is right, remove it`
}
