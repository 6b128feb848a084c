import { html } from 'hono/html'
import { describeIgnored } from '../../proofs/describe.ts'
import type { ProofJudgement } from '../../proofs/judge.ts'
import { type ProofKind, type ProofSummary, proofKinds } from '../../proofs/proof.ts'
import { plural } from '../../wording.ts'
import { type Markup, reasonList, stateLabel, timeWithAge } from '../markup.ts'

/** Ignored records that are named. */
const MAX_NAMED = 5

/** Whether anything is recorded of an account. */
export function hasRecords(proofs: ProofJudgement | undefined): boolean {
  if (proofs === undefined) return false
  const { verify, drill, failed } = proofs
  return verify !== undefined || drill !== undefined || failed.length > 0
}

/** When an account was last proven, for the table of accounts. */
export function proofCell(proofs: ProofJudgement | undefined, now: Date): Markup | string {
  if (proofs === undefined || !hasRecords(proofs)) return 'never'
  const parts = proofKinds.flatMap((kind) => {
    const { good, failed } = ofKind(proofs, kind)
    if (good === undefined && failed === undefined) return []
    return [
      html`<li>${kind} ${failedLabel(failed)}${good && timeWithAge(good.startedAt, now)}</li>`,
    ]
  })
  return html`<ul class="reasons">${parts}</ul>`
}

/** The last verification and the last drill, for the facts of an account. */
export function proofFacts(
  proofs: ProofJudgement,
  now: Date,
): readonly (readonly [string, Markup | undefined])[] {
  const ignored = describeIgnored(proofs)
  return [
    ...proofKinds.map((kind) => [`Last ${kind}`, proofFact(proofs, kind, now)] as const),
    ['Records that do not count', reasonList(ignored, MAX_NAMED)],
  ]
}

function proofFact(proofs: ProofJudgement, kind: ProofKind, now: Date): Markup | undefined {
  const { good, failed } = ofKind(proofs, kind)
  if (good === undefined && failed === undefined) return undefined
  return html`${failed && html`${failedLabel(failed)} ${timeWithAge(failed.startedAt, now)}${reasonList(failed.problems, MAX_NAMED)}`}
${good && html`${failed && 'good before: '}${timeWithAge(good.startedAt, now)} <span class="age">· ${describeGood(good)}</span>`}`
}

function ofKind(proofs: ProofJudgement, kind: ProofKind) {
  return { good: proofs[kind], failed: proofs.failed.find((one) => one.kind === kind) }
}

function failedLabel(failed: ProofSummary | undefined): Markup | undefined {
  return failed && html`${stateLabel('damaged', 'failed')} `
}

function describeGood({ snapshotCount, objects, equal, sealed }: ProofSummary): string {
  const unread = sealed > 0 ? `, ${plural(sealed, 'encrypted file')} only as stored bytes` : ''
  return `${plural(snapshotCount, 'snapshot')}, ${equal} of ${plural(objects, 'object')} equal${unread}`
}
